"""Positions at which values belong into a sorted sequence, found by bisection."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    as_dtype,
    as_number,
    bit_length,
    equally_varying,
    LONG,
)
from functx._core.numbers.bitwise_comparison import bits, from_bits, ordered_bits


def insertion_points(sequence: Array, values: Array, right: bool) -> Array:
    """The first position along the last dimension of `sequence` that is not below each value.

    With `right` it is the first position above the value. `sequence` and `values` have one dtype.
    The comparisons, which decide where NaN and unsorted values go, are PyTorch's.

    Shapes: `[..., n], [..., m] -> [..., m]`.
    """
    n = sequence.shape[-1]
    # XLA on CPUs would read float16 and bfloat16 by way of float32.
    stored = bits(sequence) if sequence.dtype.itemsize == 2 else sequence
    keys = ordered_bits(values)

    def halve(_: Any, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = low + (high - low) // 2
        at = jnp.take_along_axis(stored, jnp.minimum(middle, n - 1), -1, mode="promise_in_bounds")
        # NaN compares with nothing, as a value that is sought and as one in the sequence.
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
    low, high, *_ = equally_varying(
        [low, jnp.full_like(low, as_number(n, low.dtype)), stored, keys]
    )
    return lax.fori_loop(0, bit_length(n), halve, (low, high))[0]
