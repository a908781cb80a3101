"""Dimensions of size 1 that bring an array to a least rank, in the places where NumPy adds them."""

from __future__ import annotations

from jax import Array, lax


def at_least(x: Array, ndim: int) -> Array:
    """`x` with at least 1, 2 or 3 dimensions.

    A vector becomes a row, and a matrix gets its third dimension last.
    """
    shape = x.shape
    if len(shape) == 1 and ndim > 1:
        shape = (1, *shape)
    return lax.reshape(x, shape + (1,) * (ndim - len(shape)))
