"""What is checked: a function of the leaves that it is differentiated by, at one point."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import describe, fail
from functx._transforms.arguments import kind_of, numbered, require_callable
from functx._transforms.outputs import require_arrays
from functx._transforms.sparse_arrays import holds_sparse

from .sparse_inputs import by_all_elements


ArrayTuple = tuple[Array, ...]

_ARRAYS = (jax.Array, np.ndarray, np.generic)


@dataclasses.dataclass(frozen=True, eq=False)
class Point:
    """`func` as a function of its differentiated leaves, and `inputs`, their values here.

    Calling it with leaves in place of `inputs` gives the leaves of the output; `outputs` are
    those at `inputs`. `elsewhere` is what is evaluated for differences, if that is another function
    than the one to differentiate.
    """

    who: str
    func: Callable[..., Any]
    leaves: tuple[Any, ...]
    tree: Any
    slots: tuple[int, ...]
    names: tuple[str, ...]
    outputs: ArrayTuple = ()
    structure: Any = None
    elsewhere: Callable[..., Any] | None = None

    @property
    def inputs(self) -> ArrayTuple:
        """The leaves by which the function is differentiated."""
        return tuple(self.leaves[slot] for slot in self.slots)

    @property
    def numbers(self) -> list[int]:
        """The outputs that are numbers, integers among them: all but keys."""
        return [i for i, y in enumerate(self.outputs) if kind_of(y) != "other"]

    @property
    def inexact(self) -> list[int]:
        """The outputs that are real or complex."""
        return [i for i, y in enumerate(self.outputs) if inexact(y)]

    def evaluated(self, inputs: Sequence[Any]) -> tuple[ArrayTuple, Any]:
        """The leaves of the output at `inputs`, and its structure."""
        leaves = list(self.leaves)
        for slot, x in zip(self.slots, inputs, strict=True):
            leaves[slot] = x
        return self._leaves_of(self.func(*self.tree.unflatten(leaves)))

    def moved(self, inputs: Sequence[Any]) -> tuple[ArrayTuple, Any]:
        """The leaves of the output at `inputs` for a difference, and its structure."""
        if self.elsewhere is None:
            return self.evaluated(inputs)
        return dataclasses.replace(self, func=self.elsewhere).evaluated(inputs)

    def _leaves_of(self, output: Any) -> tuple[ArrayTuple, Any]:
        outputs, structure = jax.tree.flatten(output)
        if outputs:
            require_arrays(self.who, output)
        return tuple(y if hasattr(y, "dtype") else jnp.asarray(y) for y in outputs), structure

    def __call__(self, *inputs: Any) -> ArrayTuple:
        return self.evaluated(inputs)[0]

    def cotangents(self, given: dict[int, Any]) -> tuple[Any, ...]:
        """Those `given`, by the number of their output, and zeros for all others."""
        return tuple(
            given[i] if i in given else np.zeros(y.shape, y.dtype) if inexact(y) else None
            for i, y in enumerate(self.outputs)
        )

    def tangents(self, given: dict[int, Any]) -> tuple[Any, ...]:
        """Those `given`, by the number of their input, and zeros for all others."""
        return tuple(
            given[j] if j in given else np.zeros(x.shape, x.dtype)
            for j, x in enumerate(self.inputs)
        )


def inexact(x: Any) -> bool:
    """Whether `x` is real or complex, and so has a derivative."""
    return kind_of(x) in ("real", "complex")


def point_of(
    who: str,
    func: Callable[..., Any],
    inputs: Any,
    argnums: int | tuple[int, ...] | None = None,
    names: Sequence[str] | None = None,
    masked: bool = True,
) -> Point:
    """The point `inputs`, a tuple of arguments or a single one, with the output of `func` there.

    Of sparse arrays the stored values are inputs, or all elements unless `masked`.
    """
    require_callable(who, func)
    args, elsewhere = as_arguments(inputs), None
    if not masked and holds_sparse(args):
        func, elsewhere, args = by_all_elements(func, args)
    names = names or numbered("inputs", len(args))
    chosen = _chosen(who, argnums, len(args))
    leaves, slots, paths = [], [], []
    for number, (name, arg) in enumerate(zip(names, args, strict=True)):
        held = len(slots)
        for path, leaf in jax.tree_util.tree_leaves_with_path(arg):
            if number in chosen and isinstance(leaf, _ARRAYS) and inexact(leaf):
                leaf = jnp.asarray(leaf)
                slots.append(len(leaves))
                paths.append(name + jax.tree_util.keystr(path))
            leaves.append(leaf)
        if argnums is not None and number in chosen and len(slots) == held:
            fail(
                who,
                f"`{name}`, which `argnums` names, must hold a floating or complex array, "
                f"got {describe(arg)}",
                hint="Python numbers are passed on as they are; jnp.asarray(x) makes an array",
                error=TypeError,
            )
    if not slots:
        fail(
            who,
            "expected at least one input tensor to require gradient: a floating or complex array "
            f"in `inputs`, got {describe(args)}",
            hint="integers and Python numbers are not differentiated",
            error=ValueError,
        )
    tree = jax.tree.structure(args)
    point = Point(who, func, tuple(leaves), tree, tuple(slots), tuple(paths))
    outputs, structure = point.evaluated(point.inputs)
    if structure == jax.tree.structure(None):
        what = "`func` must return arrays, got None"
        fail(who, what, hint="is a `return` missing?", error=TypeError)
    return dataclasses.replace(point, outputs=outputs, structure=structure, elsewhere=elsewhere)


def as_arguments(inputs: Any) -> tuple[Any, ...]:
    """A tuple or list of arguments as it is, anything else as the only one."""
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)


def _chosen(who: str, argnums: Any, count: int) -> set[int]:
    if argnums is None:
        return set(range(count))
    chosen: set[int] = set()
    for one in argnums if isinstance(argnums, tuple) else (argnums,):
        if isinstance(one, bool) or not isinstance(one, int):
            fail(
                who,
                f"`argnums` must be an int or a tuple of ints, got {argnums!r}",
                error=TypeError,
            )
        if not -count <= one < count:
            fail(who, f"`argnums` {one} is out of range for {count} inputs", error=IndexError)
        chosen.add(one % count)
    return chosen


def warn_of_low_precision(point: Point) -> None:
    """Warns who called a check of inputs whose differences will be too inexact."""
    for j, (name, x) in enumerate(zip(point.names, point.inputs, strict=True)):
        if x.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{j} requires gradient and is not a double precision floating or complex "
                f"array: `{name}` is {describe(x)}. Differences with eps=1e-6 see rounding "
                "errors; functx.x64() and functx.enable_x64() let arrays have 64 bits.",
                stacklevel=4,
            )
