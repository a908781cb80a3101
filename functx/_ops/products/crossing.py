"""The vector at right angles to two others."""

from __future__ import annotations

from jax import Array, lax

from functx._core import accumulator, describe, refuse


def cross_product(input: Array, other: Array, dim: int) -> Array:
    """The cross product of vectors along `dim`; the other dimensions broadcast."""
    if input.ndim != other.ndim:
        refuse(
            "`input` and `other` must have equally many dimensions, "
            f"got {describe(input)} and {describe(other)}"
        )
    if input.ndim == 0 or input.shape[dim] != 3 or other.shape[dim] != 3:
        refuse(
            f"dimension {dim} of `input` and `other` must have length 3, "
            f"got {describe(input)} and {describe(other)}"
        )
    wide = accumulator(input.dtype)
    a, b = (
        [lax.slice_in_dim(x, i, i + 1, axis=dim).astype(wide) for i in range(3)]
        for x in (input, other)
    )
    parts = [a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return lax.concatenate(parts, dim).astype(input.dtype)
