"""Searches in sorted sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    as_dtype,
    category,
    describe,
    Index,
    index_in_range,
    LONG,
    operator,
    Promote,
    refuse,
    Requirement,
    result_dtype,
)

from .bisection import insertion_points


__all__ = ["bucketize", "searchsorted"]


def _sorter_inside(*, sorted_sequence: Any, sorter: Any, **_: Any) -> Iterator[Requirement]:
    if sorter is not None and sorted_sequence.ndim:
        yield index_in_range(sorter, sorted_sequence.shape[-1], name="sorter")


@operator(
    promote=Promote.NONE,
    accepts=Accepts.REAL,
    differentiable=False,
    requires=_sorter_inside,
    # PyTorch names the second argument `self` if it is a number, and documents it as `values`.
    synonyms={"self": "input", "values": "input"},
)
def searchsorted(
    sorted_sequence: ArrayLike,
    input: ArrayLike,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Literal["left", "right"] | None = None,
    sorter: Index | None = None,
) -> Array:
    """The positions at which the values `input` belong into `sorted_sequence`.

    This is the first position `i` with `sorted_sequence[i] >= value`. NaN goes to the end.

    - `sorted_sequence`: numbers in ascending order along the last dimension.
    - `input`: the values, an array or a number.
    - `out_int32`: whether positions are int32, instead of int64.
    - `right`: whether to give the first position with `sorted_sequence[i] > value`, instead.
    - `side`: `"right"` is `right=True`, `"left"` is `right=False`; `None` leaves it to `right`.
    - `sorter`: the positions, as `functx.argsort` gives them, that sort a sequence that is not
      sorted.

    Shapes: `[..., n], [..., m] -> [..., m]`; `[n], [...] -> [...]`.
    Dtypes: int64 or int32; the arguments are compared in their common dtype, which must not be
    bool.
    Errors: ValueError for another `side` and for one that contradicts `right`, RuntimeError for
    shapes that do not fit, TypeError for complex numbers.

    >>> functx.searchsorted(jnp.asarray([1, 3, 5]), jnp.asarray([3, 6]), right=True).tolist()
    [2, 3]
    """
    if side not in (None, "left", "right"):
        refuse(f"`side` must be 'left', 'right' or None, got {side!r}", error=ValueError)
    if right and side == "left":
        refuse("`side` must not be 'left' where `right` is True", error=ValueError)
    sequence, input = _comparable(sorted_sequence, input)
    if sequence.ndim == 0:
        refuse(f"`sorted_sequence` must have a dimension, got {describe(sequence)}")
    if sequence.ndim > 1 and sequence.shape[:-1] != input.shape[:-1]:
        refuse(
            f"`sorted_sequence` must be a vector or agree with `input` up to the last dimension, "
            f"got {describe(sequence)} for {describe(input)}"
        )
    if sequence.ndim > 1 and input.ndim != sequence.ndim:
        refuse(
            f"`input` must have as many dimensions as `sorted_sequence`, got {describe(input)} "
            f"for {describe(sequence)}"
        )
    if sorter is not None:
        sequence = _permuted(sequence, jnp.asarray(sorter))
    values = input if sequence.ndim > 1 else input.reshape(-1)
    found = insertion_points(sequence, values, right or side == "right").reshape(input.shape)
    return found.astype(np.int32 if out_int32 else as_dtype(LONG))


@operator(promote=Promote.NONE, accepts=Accepts.REAL, differentiable=False)
def bucketize(
    input: ArrayLike, boundaries: ArrayOnly, *, out_int32: bool = False, right: bool = False
) -> Array:
    """The bucket between sorted boundaries to which each value of `input` belongs.

    This is the first position `i` with `boundaries[i] >= value`: bucket `i` ends with
    `boundaries[i]`. NaN goes to the end.

    - `input`: the values, an array or a number.
    - `boundaries`: a vector of numbers in ascending order.
    - `out_int32`: whether positions are int32, instead of int64.
    - `right`: whether to give the first position with `boundaries[i] > value`, instead: bucket `i`
      then ends before `boundaries[i]`.

    Shapes: `[...], [n] -> [...]`.
    Dtypes: int64 or int32; the arguments are compared in their common dtype, which must not be
    bool.
    Errors: RuntimeError for `boundaries` that are no vector, TypeError for complex numbers.

    >>> functx.bucketize(jnp.asarray([3, 6]), jnp.asarray([1, 3, 5])).tolist()
    [1, 3]
    """
    if boundaries.ndim != 1:
        refuse(f"`boundaries` must have 1 dimension, got {describe(boundaries)}")
    sequence, values = _comparable(boundaries, input)
    found = insertion_points(sequence, values.reshape(-1), right).reshape(values.shape)
    return found.astype(np.int32 if out_int32 else as_dtype(LONG))


def _comparable(sequence: Array, values: Array) -> tuple[Array, Array]:
    """`sequence` and `values`, both in their common dtype."""
    common = result_dtype([sequence, values])
    if category(common) == 0:
        refuse("expected numbers on one side, got bools on both", error=TypeError)
    return sequence.astype(common), values.astype(common)


def _permuted(sequence: Array, sorter: Array) -> Array:
    if sorter.shape != sequence.shape:
        refuse(
            f"`sorter` must have the shape of `sorted_sequence`, got {describe(sorter)} for "
            f"{describe(sequence)}"
        )
    if sorter.dtype not in (np.int32, np.int64):
        refuse(f"`sorter` must be int64, got {describe(sorter)}", error=TypeError)
    outside = sequence.shape[-1]
    return jnp.take_along_axis(sequence, jnp.where(sorter < 0, outside, sorter), -1, mode="fill")
