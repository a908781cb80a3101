"""Counts of elements that are equal, or lie close to each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayOnly,
    as_dtype,
    category,
    describe,
    equally_varying,
    LONG,
    operator,
    Promote,
    RealArrayDtypeScalar,
    refuse,
    Requirement,
    rounded_first,
    UnpromotedArray,
)
from functx._core.numbers.bitwise_comparison import greatest, least
from functx._ops.quotients import quotient


__all__ = ["bincount", "histc"]


def _not_negative(*, input: Any, **_: Any) -> Iterator[Requirement]:
    yield Requirement(input >= 0, "`input` must not be negative, got {got}", got=input)


def _greatest_and_one(input: Array, **_: Any) -> Array:
    none = jnp.asarray(0, as_dtype(LONG))
    return jnp.max(input).astype(none.dtype) + 1 if input.size else none


@operator(
    promote=Promote.NONE,
    accepts=Accepts.INTEGER,
    requires=_not_negative,
    sizes_from_values={"size": _greatest_and_one},
)
def bincount(
    input: ArrayOnly,
    weights: UnpromotedArray | None = None,
    minlength: int = 0,
    *,
    size: int | None = None,
) -> Array:
    """The number of times that each of 0, 1, 2, ... occurs in `input`, or a sum of weights.

    - `weights`: what each element counts, an array of the shape of `input`; 1 each if it is `None`.
    - `minlength`: the least length of the result.
    - `size`: the length of the result, which `jit` needs; greater elements are left out.

    Shapes: `[n] -> [m]`, where `m` is one more than the greatest element, and at least `minlength`.
    Dtypes: int64; float32 for float32 `weights`, float64 for all other weights.
    Errors: RuntimeError for negative elements, TypeError for an `input` without integers.

    >>> functx.bincount(jnp.asarray([1, 3, 1])).tolist()
    [0, 2, 0, 1]
    """
    assert size is not None
    if input.ndim != 1:
        refuse(f"`input` must have 1 dimension, got {describe(input)}")
    if minlength < 0:
        refuse(f"`minlength` must not be negative, got {minlength}", error=ValueError)
    if size < 0:
        refuse(f"`size` must not be negative, got {size}", error=ValueError)
    added = jnp.ones(input.shape, as_dtype(LONG))
    if weights is not None:
        added = _added(jnp.asarray(weights), input)
    at = input.astype(as_dtype(LONG))
    at = jnp.where(at < 0, max(size, minlength), at)
    return jnp.zeros(max(size, minlength), added.dtype).at[at].add(added, mode="drop")


def _added(weights: Array, input: Array) -> Array:
    if category(weights.dtype) == 3:
        refuse(f"`weights` must be real, got {describe(weights)}", error=TypeError)
    if weights.shape != input.shape:
        refuse(f"`weights` must have the shape of `input`, got {describe(weights)}")
    return weights if weights.dtype == np.float32 else weights.astype(as_dtype("float64"))


def _range_fits(*, input: Any, min: Any, max: Any, **_: Any) -> Iterator[Requirement]:
    if category(input.dtype) != 2:
        return  # negative elements are refused
    low, high = _ends(input, min, max)
    finite = jnp.isfinite(low) & jnp.isfinite(high)
    yield Requirement(finite, "the range from `min` to `max`, or of `input`, must be finite")
    yield Requirement(low <= high, "`max` must not be less than `min`")


@operator(
    promote=Promote.NO_OPMATH,
    accepts=Accepts.FLOATING,
    differentiable=False,
    requires=_range_fits,
)
def histc(
    input: ArrayOnly, bins: int = 100, min: RealArrayDtypeScalar = 0, max: RealArrayDtypeScalar = 0
) -> Array:
    """The number of elements of `input` in each of `bins` equal intervals from `min` to `max`.

    - `bins`: the number of intervals.
    - `min`, `max`: the range, numbers or 0-d arrays. If they are equal, as by default, the range is
      that of the elements; if all elements are equal, it reaches 1 to either side of them.

    Each interval contains its lower end, the last one both ends. Elements outside of the range, and
    NaN, count nowhere.

    Shapes: `[...] -> [bins]`.
    Dtypes: that of `input`, which must be floating.
    Errors: RuntimeError for a range that is not finite, and for `max` below `min`.

    >>> functx.histc(jnp.asarray([1.0, 2.0, 1.0], "float32"), 4, 0, 3)
    Array([0., 2., 1., 0.], dtype=float32)
    """
    if bins < 1:
        refuse(f"`bins` must be positive, got {bins}", error=ValueError)
    low, high = _ends(input, min, max)
    alone = low == high
    low, high = jnp.where(alone, low - 1, low), jnp.where(alone, high + 1, high)
    compute = accumulator(input.dtype)
    low, high, flat = (x.astype(compute) for x in (low, high, input.reshape(-1)))
    # PyTorch rounds each step of the computation of a place to float16 or bfloat16.
    count, width, offset = (
        rounded_first(x, input.dtype) for x in (jnp.asarray(bins, compute), high - low, flat - low)
    )
    share = quotient(rounded_first(offset * count, input.dtype), width)
    place = jnp.floor(rounded_first(share, input.dtype))
    place = jnp.where(place < bins, place, bins - 1).astype(np.int32)
    place = jnp.where((flat >= low) & (flat <= high), place, bins)
    # Integers count: a sum of ones in a floating dtype stops growing at the dtype's last digit.
    counts = jnp.zeros(bins, as_dtype(LONG)).at[place].add(1, mode="drop")
    return counts.astype(input.dtype)


def _ends(input: Array, min: Any, max: Any) -> tuple[Array, Array]:
    low, high = (lax.convert_element_type(x, input.dtype) for x in (min, max))
    if input.size == 0:
        return low, high
    low, high, flat = equally_varying([low, high, input.reshape(-1)])
    return lax.cond(low == high, lambda: (least(flat, 0), greatest(flat, 0)), lambda: (low, high))
