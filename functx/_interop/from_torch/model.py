"""What `from_torch` returns: a model as functions of its parameters and buffers."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Protocol

import jax
import numpy as np

from functx._core import available, describe, fail, require_bool
from functx._core.randomness.ambient_generator import scope

from .calls import check_leaves, combination, is_array
from .forward import Forward
from .sizes import check_sizes
from .state import ArrayFacts, check_state


class Source(Protocol):
    """Where forward passes come from."""

    name: str  # of the module's class
    params: dict[str, jax.Array]
    frozen: dict[str, jax.Array]
    buffers: dict[str, jax.Array]
    dtypes: dict[str, str]  # of parameters and buffers, as PyTorch has them
    ranges: Mapping[str, tuple[int, int | None]]  # of an exported program's sizes

    def fixed(self) -> Forward | None:
        """The only forward pass, of an exported program."""
        ...

    def exported(
        self, structure: Any, leaves: list[Any], train: bool, dtypes: Mapping[str, str]
    ) -> Forward:
        """The forward pass for these arguments, with state of these dtypes."""
        ...

    def structure(self) -> Any:
        """The structure of arguments that an exported program takes, its fixed ones filled in."""
        ...


class ImportedModel:
    """A PyTorch model as a function of its parameters.

    - `params`: the parameters that PyTorch trains, a dict from their names to arrays. Tied weights
      are one parameter, under the first of their names.
    - `frozen`: the parameters with `requires_grad=False`. Calls use them as they are, unless the
      given parameters have arrays under their names: `model(model.params | model.frozen, x)`
      differentiates by all.
    - `buffers`: the buffers, those that `state_dict` leaves out too.

    `from_torch` makes it, and gives it its `source`, which exports the module or holds one program,
    and `rolled`: whether its equal layers run as loops.
    """

    def __init__(self, source: Source, rolled: bool = False):
        self.params = source.params
        self.frozen = source.frozen
        self.buffers = source.buffers
        self._source = source
        self._rolled = rolled
        self._forwards: dict[Any, Forward] = {}
        self._facts: dict[bool, tuple[dict[str, ArrayFacts], ...]] = {}

    def __repr__(self) -> str:
        many = sum(x.size for x in self.params.values())
        return f"<{self._source.name} from PyTorch, {many} parameters in {len(self.params)} arrays>"

    def __call__(self, params: Any, /, *args: Any, **kwargs: Any) -> Any:
        """What the module returns in evaluation mode, with its own buffers.

        - `params`: a dict such as `model.params`, with other arrays of the same shapes.
        - `args`, `kwargs`: the module's arguments. Arrays may be traced; Python numbers, strings,
          None and bools are fixed parts of the program, which is exported anew for other values.

        Random draws of a module that makes them in evaluation take their keys from the ambient
        generator: `with functx.random.scope(key):`.

        Returns a tree as the module does; a `ModelOutput` of transformers is a dict.

        Errors: ValueError for parameters or sizes that do not fit, which it names; TypeError for
        arguments that are neither arrays nor fixed values.
        """
        out, _ = self._run(params, self.buffers, args, kwargs, train=False)
        return out

    def apply(
        self,
        params: Any,
        buffers: Any,
        /,
        *args: Any,
        train: bool = True,
        key: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, dict[str, Any]]:
        """What the module returns, and its buffers after the call.

        - `params`, `buffers`: dicts such as `model.params` and `model.buffers`.
        - `args`, `kwargs`: the module's arguments. One that is called `train` or `key` itself must
          be given by position.
        - `train`: whether the module is in training mode: batch statistics, dropout. An exported
          program keeps the mode in which it was exported.
        - `key`: a PRNG key or a `functx.Generator` from which dropout and other random operators
          draw; None takes the ambient generator. The numbers are not PyTorch's.

        Returns `(output, new_buffers)`. The module's own buffers and those given stay as they are.

        Errors: as of a call.
        """
        require_bool("from_torch", "train", train)
        if is_array(key) and key.dtype != np.uint32 and not _is_key(key):
            fail(
                "from_torch",
                f"`key` must be a PRNG key, got {describe(key)}",
                hint="give an argument of the module that is called `key` by position",
                error=TypeError,
            )
        with contextlib.nullcontext() if key is None else scope(key):
            out, new = self._run(params, buffers, args, kwargs, train=train)
        return out, {**buffers, **new}

    def _run(
        self, params: Any, buffers: Any, args: Any, kwargs: Any, *, train: bool
    ) -> tuple[Any, dict[str, Any]]:
        trained, frozen, own = self._facts_now()
        check_state("params", params, trained, frozen)
        if buffers is not self.buffers:
            check_state("buffers", buffers, own, {})
        if self.frozen:
            params = {**self.frozen, **params}
        leaves, structure = jax.tree.flatten((args, kwargs))
        forward = self._source.fixed()
        if forward is None:
            forward = self._exported(params, buffers, leaves, structure, train)
        else:
            leaves = self._checked(params, buffers, leaves, structure, forward)
        return forward(params, buffers, leaves, self._rolled)

    def _facts_now(self) -> tuple[dict[str, ArrayFacts], ...]:
        """The shapes and dtypes of parameters, frozen ones and buffers, in this setting of x64."""
        wide = bool(jax.config.read("jax_enable_x64"))
        if wide not in self._facts:
            dtypes = self._source.dtypes
            self._facts[wide] = tuple(
                {
                    name: ArrayFacts(x.shape, available(np.dtype(_numpy(dtypes[name]))))
                    for name, x in each.items()
                }
                for each in (self.params, self.frozen, self.buffers)
            )
        return self._facts[wide]

    def _other_dtypes(self, params: Any, buffers: Any) -> tuple[tuple[str, str], ...]:
        """The dtypes of parameters and buffers that are not the module's own."""
        found = []
        for facts in self._facts_now():
            for name, (_, dtype) in facts.items():
                given = params[name] if name in params else buffers[name]
                if given.dtype != dtype:
                    found.append((name, given.dtype.name))
        return tuple(found)

    def _exported(
        self, params: Any, buffers: Any, leaves: list[Any], structure: Any, train: bool
    ) -> Forward:
        dtypes = self._other_dtypes(params, buffers)
        wide = bool(jax.config.read("jax_enable_x64"))
        try:
            key = (*combination(leaves, structure), train, dtypes, wide)
            forward = self._forwards.get(key)
        except TypeError:
            check_leaves(leaves)
            raise
        if forward is None:
            check_leaves(leaves)
            forward = self._source.exported(structure, leaves, train, dict(dtypes))
            self._forwards[key] = forward
        return forward

    def _checked(
        self, params: Any, buffers: Any, leaves: list[Any], structure: Any, forward: Forward
    ) -> list[Any]:
        """The arrays among the arguments of an exported program, once all fits it."""
        for name, dtype in self._other_dtypes(params, buffers):
            own = self._source.dtypes[name]
            fail(
                "from_torch",
                f"{name!r} was exported as {own}, got {dtype}",
                hint="import the module itself, which is exported for other dtypes too",
                error=TypeError,
            )
        wanted = self._source.structure()
        if structure != jax.tree.structure(wanted):
            fail(
                "from_torch",
                f"the program was exported for arguments {jax.tree.structure(wanted)}, "
                f"got {structure}",
                error=TypeError,
            )
        sizes = []
        for x, expected in zip(leaves, jax.tree.leaves(wanted), strict=True):
            if expected in forward.inputs:
                if not is_array(x):
                    message = f"`{expected.name}` was exported as {expected}, got {describe(x)}"
                    fail("from_torch", message, error=TypeError)
                if x.dtype != available(np.dtype(_numpy(expected.dtype))):
                    message = f"`{expected.name}` was exported as {expected}, got {describe(x)}"
                    fail("from_torch", message, error=TypeError)
                sizes.append((expected, x.shape))
            elif is_array(x) or x != expected:
                fail(
                    "from_torch",
                    f"the program was exported for the value {expected!r}, got {describe(x)}",
                    error=ValueError,
                )
        check_sizes(sizes, self._source.ranges)
        return leaves


def _is_key(x: Any) -> bool:
    return jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)


def _numpy(dtype: str) -> Any:
    """NumPy's dtype of PyTorch's name."""
    return jax.numpy.dtype(dtype)
