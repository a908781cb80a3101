"""A call with tensors: what of its arguments moves, what is static, and what it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import torch

from functx._arrays.constructors import asarray
from functx._core import describe, fail
from functx._core.context.user_contexts import grad_modes
from functx._core.randomness.ambient_generator import drawing
from functx._core.randomness.generators import Generator

from .applying import apply, TensorCall
from .programs import Called, CompiledPrograms, FIXED, StaticValue, TENSOR
from .tensors import require_digits


_ARRAYS = (jax.Array, np.ndarray, np.generic)


class TensorFunction:
    """A function of arrays, called with tensors, and its compiled programs."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self._compiled = CompiledPrograms(func)
        self._left_alone: Callable[..., Any] | None = None
        self._names: dict[Any, list[str]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result, with tensors in the places of arrays."""
        leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=_is_generator)
        names = self._names_in(structure)
        tensors: list[torch.Tensor] = []
        fixed: list[Any] = []
        kinds = []
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor):
                require_digits(names[i], leaf)
                tensors.append(leaf)
                kinds.append(TENSOR)
            elif isinstance(leaf, Generator):
                fixed.append(leaf.clone_state())  # the caller's goes on after this call
                kinds.append(FIXED)
            elif isinstance(leaf, _ARRAYS):
                fixed.append(leaf if isinstance(leaf, jax.Array) else asarray(leaf))
                kinds.append(FIXED)
            else:
                kinds.append(_static(names[i], leaf))
        program = Called(structure, tuple(kinds))
        of_tensors = [name for name, kind in zip(names, kinds, strict=True) if kind is TENSOR]

        def run(draw: Any, *_: Any) -> tuple[Any, Any]:
            call = TensorCall(self._compiled, draw, fixed, of_tensors)
            outputs, tree = apply(call, program, tensors)
            return tree.unflatten(outputs), call.counted

        modes = grad_modes.value
        if modes is None or (modes.grad and not modes.inference):
            return drawing(run, args, kwargs)
        with torch.no_grad():  # functx's region of that name cuts what lies outside of it, too
            return drawing(run, args, kwargs)

    def beside_the_compiler(self) -> Callable[..., Any]:
        """This function, which PyTorch's compiler leaves as it is."""
        if self._left_alone is None:
            self._left_alone = torch.compiler.disable(self)
        return self._left_alone

    def _names_in(self, structure: Any) -> list[str]:
        """What errors call the leaves of the arguments."""
        names = self._names.get(structure)
        if names is None:
            tree = structure.unflatten(range(structure.num_leaves))
            paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(tree)]
            names = self._names[structure] = [_name(path) for path in paths]
        return names


def _is_generator(x: Any) -> bool:
    return isinstance(x, Generator)


def _name(path: Any) -> str:
    """`args[0]['weight']`, or `kwargs['x']`."""
    return ("args", "kwargs")[path[0].idx] + jax.tree_util.keystr(path[1:])


def _static(name: str, value: Any) -> StaticValue:
    try:
        hash(value)
    except TypeError:
        fail(
            "to_torch",
            f"`{name}` must be a tensor, an array, or a static value, which is hashable, got "
            f"{describe(value)}",
            error=TypeError,
        )
    return StaticValue(value)
