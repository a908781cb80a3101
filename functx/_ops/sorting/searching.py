"""Finding places in what is sorted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    as_dtype,
    category,
    describe,
    equally_varying,
    Index,
    index_in_range,
    LONG,
    operator,
    Promote,
    refuse,
    Requirement,
    result_dtype,
)
from functx._core.order import bits, from_bits, ordered_bits


__all__ = ["searchsorted"]


def _sorter_inside(*, sorted_sequence: Any, sorter: Any, **_: Any) -> Iterator[Requirement]:
    if sorter is not None and sorted_sequence.ndim:
        yield index_in_range(sorter, sorted_sequence.shape[-1], name="sorter")


@operator(
    promote=Promote.NONE,
    accepts=Accepts.REAL,
    differentiable=False,
    requires=_sorter_inside,
    # PyTorch names the second argument `self` if it is a number, and documents `values`.
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
    r"""Where to insert values so that the last dimension stays sorted.

    Gives the first position `i` with `sorted_sequence[i] >= value`, or with `right` (or
    `side="right"`) the first with `sorted_sequence[i] > value`. NaN goes to the end.
    `sorter` is what `argsort` gives for a sequence that is not sorted.

    Shapes: `[..., n], [..., m] -> [..., m]`; `[n], [...] -> [...]`, where `input` may be a number.
    Dtypes: int64, or int32 with `out_int32`; the arguments are compared in their common dtype,
    which must not be bool.

    >>> functx.searchsorted(jnp.asarray([1, 3, 5]), jnp.asarray([3, 6]), right=True).tolist()
    [2, 3]
    """
    if side not in (None, "left", "right"):
        refuse(f"`side` must be 'left', 'right' or None, got {side!r}", error=ValueError)
    if right and side == "left":
        refuse("`side` must not be 'left' where `right` is True", error=ValueError)
    common = result_dtype([sorted_sequence, input])
    if category(common) == 0:
        refuse("expected numbers on one side, got bools on both", error=TypeError)
    sequence, input = sorted_sequence.astype(common), input.astype(common)
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
    found = _bisected(sequence, values, right or side == "right").reshape(input.shape)
    return found.astype(np.int32 if out_int32 else as_dtype(LONG))


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


def _bisected(sequence: Array, values: Array, right: bool) -> Array:
    """Bisection with PyTorch's comparisons, which decide where NaN and the unsorted go."""
    n = sequence.shape[-1]
    # Halves XLA's CPU would read by way of float32.
    stored = bits(sequence) if sequence.dtype.itemsize == 2 else sequence
    keys = ordered_bits(values)

    def halve(_: Any, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = low + (high - low) // 2
        at = jnp.take_along_axis(stored, jnp.minimum(middle, n - 1), -1, mode="promise_in_bounds")
        # A NaN compares with nothing, the one that is sought and the one that is met.
        at = from_bits(at, sequence.dtype)
        met = ordered_bits(at, nan_least=True)
        beyond = met <= keys if right else met < keys
        open = low < high
        return (
            jnp.where(open & beyond, middle + 1, low),
            jnp.where(open & ~beyond, middle, high),
        )

    if n == 0:
        return jnp.zeros(values.shape, as_dtype(LONG))
    low = jnp.zeros(values.shape, as_dtype(LONG))
    low, high, *_ = equally_varying([low, jnp.full_like(low, n), stored, keys])
    return lax.fori_loop(0, n.bit_length(), halve, (low, high))[0]
