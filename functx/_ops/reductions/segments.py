"""Reductions of the segments into which one dimension is cut."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    as_number,
    available,
    describe,
    Dim,
    Index,
    known,
    LONG,
    operator,
    RealArrayDtypeScalar,
    refuse,
    Requirement,
)
from functx._core.numbers.bitwise_comparison import from_keys, invertible_keys, same
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.indexing.many_into_one import product_into


__all__ = ["segment_reduce"]

_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}


def _segments_fit(
    *, data: Any, lengths: Any, offsets: Any, axis: int, unsafe: bool, **_: Any
) -> Iterator[Requirement]:
    given = lengths if offsets is None else offsets
    if unsafe or given is None or given.dtype.kind not in "i" or given.ndim != axis + 1:
        return
    n = data.shape[axis]
    if offsets is None:
        yield Requirement(lengths >= 0, "`lengths` must not be negative, got {got}", got=lengths)
        total = jnp.sum(lengths, -1, dtype=available(LONG))
        yield Requirement(total == n, f"`lengths` must add up to {n}, got {{got}}", got=total)
    else:
        inside = (offsets >= 0) & (offsets <= n)
        said = f"`offsets` must lie in [0, {n}], got {{got}}"
        yield Requirement(inside, said, got=offsets)
        steps = jnp.diff(offsets)
        yield Requirement(steps >= 0, "`offsets` must not decrease, got a step of {got}", got=steps)


@operator(accepts=Accepts.FLOATING, requires=_segments_fit, aliases=("_segment_reduce",))
def segment_reduce(
    data: ArrayOnly,
    reduce: Literal["sum", "mean", "max", "min", "prod"],
    *,
    lengths: Index | None = None,
    offsets: Index | None = None,
    axis: Dim = 0,
    unsafe: bool = False,
    initial: RealArrayDtypeScalar | None = None,
) -> Array:
    """Sums, means, extrema or products of consecutive segments of `data` along `axis`.

    - `reduce`: `"sum"`, `"mean"`, `"max"`, `"min"` or `"prod"`.
    - `lengths`: the lengths of the segments, integers that add up to the size of `axis`.
    - `offsets`: instead, where the segments begin and the last one ends. If both are given,
      `offsets` count.
    - `axis`: the last dimension of `lengths` or `offsets`; dimensions before it are those of
      `data`, each with segments of its own.
    - `unsafe`: whether the values of `lengths` and `offsets` stay unchecked.
    - `initial`: a number or 0-d array that takes part in each segment (in a mean, in its sum
      alone). Without it an empty segment gives 0, 1, NaN, -infinity or infinity.

    Shapes: `data: [..., n, ...]`, `lengths: [..., m]`, `offsets: [..., m + 1]` to `[..., m, ...]`.
    Dtypes: that of `data`, which must be floating. Elements in no segment are left out, and have
    gradient 0.
    Gradients: elements that share an extremum share its gradient evenly, NaN too; `initial` has one
    where it is alone in it. Products are exact at zeros, to every order.
    Errors: RuntimeError for segments that do not fit, and for another `reduce`.

    >>> x = jnp.asarray([1.0, 2.0, 3.0, 4.0], "float32")
    >>> functx.segment_reduce(x, "max", lengths=jnp.asarray([3, 0, 1]), initial=0)
    Array([3., 0., 4.], dtype=float32)
    """
    if reduce not in _NEUTRAL:
        refuse(f"`reduce` must be 'sum', 'mean', 'max', 'min' or 'prod', got {reduce!r}")
    if data.ndim == 0:
        refuse(f"`data` must have at least one dimension, got {describe(data)}")
    ends = _ends(data, lengths, offsets, axis)
    outer, n, inner = data.shape[:axis], data.shape[axis], data.shape[axis + 1 :]
    # One row more than there are segments takes the elements in none of them.
    rows, places = math.prod(outer), ends.shape[-1]
    index = _segment_of_each(ends.reshape(rows, places), n)
    index += as_number(places, ends.dtype) * lax.iota(ends.dtype, rows)[:, None]

    neutral = jnp.asarray(_NEUTRAL[reduce], data.dtype)
    start = neutral if initial is None else initial.astype(data.dtype)
    start = jnp.broadcast_to(start, (rows * places, *inner))
    src, index = data.reshape(rows * n, *inner), index.ravel()
    if reduce in ("max", "min"):
        out = _extremum(start, index, src, reduce)
    elif reduce == "prod":
        out = product_into(start, index, src, 0)
    else:
        out = start.at[index].add(src, mode="drop")
    if reduce == "mean":
        sizes = jnp.zeros(rows * places, data.dtype).at[index].add(1, mode="drop")
        sizes = sizes.reshape(-1, *[1] * len(inner))
        empty = jnp.asarray(jnp.nan, data.dtype) if initial is None else out
        out = jnp.where(sizes > 0, out / jnp.maximum(sizes, 1), empty)
    return out.reshape(*outer, places, *inner)[(slice(None),) * axis + (slice(-1),)]


def _ends(data: Array, lengths: Any, offsets: Any, axis: int) -> Array:
    """The beginning of each segment, and the end of the last one."""
    name, given = ("lengths", lengths) if offsets is None else ("offsets", offsets)
    if given is None:
        refuse("`lengths` or `offsets` must be given")
    given = jnp.asarray(given)
    if given.dtype not in (np.int32, np.int64):
        refuse(f"`{name}` must be int32 or int64, got {describe(given)}", error=TypeError)
    if given.ndim == 0 or given.shape[:-1] != data.shape[:axis]:
        shape = [*data.shape[:axis], "m"]
        refuse(
            f"`{name}` must have the shape [{', '.join(map(str, shape))}] for axis={axis} of "
            f"{describe(data)}, got {describe(given)}"
        )
    given = given.astype(available(LONG))
    if offsets is None:
        ends = jnp.cumsum(given, -1)
        return jnp.concatenate([jnp.zeros((*given.shape[:-1], 1), ends.dtype), ends], -1)
    if given.shape[-1] == 0:
        refuse(
            f"`offsets` must have at least 1 element in its last dimension, got {describe(given)}"
        )
    return given


def _segment_of_each(ends: Array, n: int) -> Array:
    """The segment of each of `n` positions, by rows; the number of segments for no segment."""
    at = lax.iota(ends.dtype, n)
    if known(ends.shape[-1]):
        found = jax.vmap(lambda row: jnp.searchsorted(row, at, side="right"))(ends)
    else:  # JAX needs a known size
        found = jnp.sum(ends[:, None] <= at[:, None], -1)
    found = found.astype(ends.dtype) - 1
    return jnp.where(found < 0, ends.shape[-1] - 1, found)


def _extremum(start: Array, index: Array, src: Array, reduce: str) -> Array:
    """The extremes of each row of `start` and the rows of `src` that `index` sends there."""

    def extremum(start: Array, index: Array, src: Array) -> Array:
        keys, more = (invertible_keys(x, nan_least=reduce == "min") for x in (start, src))
        at = keys.at[index]
        keys = at.max(more, mode="drop") if reduce == "max" else at.min(more, mode="drop")
        return from_keys(keys, start.dtype)

    def tangent(primals: tuple, output: Array, tangents: tuple) -> Array:
        _, index, src = primals
        attained = same(src, output.at[index].get(mode="clip"))
        none = jnp.zeros_like(output)
        count = none.at[index].add(attained.astype(none.dtype), mode="drop")
        moving = none.at[index].add(jnp.where(attained, tangents[2], 0), mode="drop")
        return jnp.where(count > 0, moving / jnp.maximum(count, 1), tangents[0])

    return derivative_rules(extremum, jvp=tangent, name=reduce)(start, index, src)
