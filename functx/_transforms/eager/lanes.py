"""Batching of eager code: each call runs for all lanes at once, which lead its operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from functx._core.jax_compat import current_trace, one_lane, set_current_trace, type_of

from .layers import joined, Layer, LayerValue, MutableArrays, needs_jax, Process, split
from .statics import Static


def eager_vmap(
    function: Callable[..., Any],
    xs: Sequence[Any],
    dims: Sequence[int],
    out_dims: Any,
    by_jax: Callable[[], Any],
) -> Any:
    """As `jax.vmap(function, dims, out_dims)(*xs)`, which `by_jax` runs where it must be JAX's."""
    size = np.shape(xs[0])[dims[0]] if xs else 0
    if size and not needs_jax(xs):
        try:
            return _over_lanes(function, xs, dims, out_dims, size)
        except MutableArrays:
            pass
    return by_jax()


def _over_lanes(
    function: Callable[..., Any], xs: Sequence[Any], dims: Sequence[int], out_dims: Any, size: int
) -> Any:
    lanes = Lanes(current_trace())
    moved = [jnp.moveaxis(x, dim, 0) if dim else x for x, dim in zip(xs, dims, strict=True)]
    inputs = [lanes.part(x if isinstance(x, jax.Array) else jnp.asarray(x)) for x in moved]
    try:
        with set_current_trace(lanes):
            output = function(*inputs)
    finally:
        lanes.invalidate()
    of_tree = lambda dim, tree: jax.tree.map(lambda y: lanes.stacked(y, dim, size), tree)
    if type(out_dims) is int:
        return of_tree(out_dims, output)
    return jax.tree.map(of_tree, out_dims, output, is_leaf=lambda dim: dim is None)


class CallOverLanes(NamedTuple):
    """What running a call gives: results that differ by lane, and others."""

    mapped: list[Any]
    others: list[Any]
    differs: Static[tuple[bool, ...]]


def over_lanes(process: Process, which: tuple[bool, ...], values: Sequence[Any]) -> CallOverLanes:
    """Runs a call for all lanes, of which some arguments have one value each."""
    differs: tuple[bool, ...] = ()
    others: list[Any] = []

    def of_lane(*mapped: Any) -> list[Any]:
        nonlocal differs, others
        rest = iter(mapped)
        arguments = [next(rest) if m else x for m, x in zip(which, values, strict=True)]
        differs, results, others = split(process, arguments)
        return results

    mapped = jax.vmap(of_lane)(*[x for m, x in zip(which, values, strict=True) if m])
    return CallOverLanes(mapped, others, Static(differs))


class Lanes(Layer):
    """The trace of a function that is being mapped. The lanes of a value lead it."""

    rule, shown, differentiates = staticmethod(over_lanes), "BatchTracer", False

    def part(self, value: Any) -> LayerValue:
        """A value that differs by lane."""
        return LayerValue(self, one_lane(type_of(value)), value, None)

    def stacked(self, y: Any, dim: int | None, size: int) -> Any:
        """A result of the function, its lanes along `dim`."""
        if self.takes_part(y):
            if dim is None:
                raise ValueError("at vmap out_axes, the result differs by lane, out_axes is None")
            return jnp.moveaxis(y.value, 0, dim) if dim else y.value
        if dim is None:
            return y
        shape, place = np.shape(y), dim % (np.ndim(y) + 1)
        shape = (*shape[:place], size, *shape[place:])
        if y.dtype == jax.dtypes.float0:
            return np.zeros(shape, y.dtype)
        return jnp.broadcast_to(jnp.expand_dims(y, place), shape)

    def arguments(self, tracers: Sequence[Any], values: list[Any]) -> tuple[Any, ...]:
        return (values,)

    def noted(self, tracers: Sequence[Any], values: list[Any], outcome: CallOverLanes) -> list[Any]:
        return joined(outcome.differs.value, list(map(self.part, outcome.mapped)), outcome.others)
