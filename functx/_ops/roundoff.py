"""Sums and products of float64 arrays together with what they lose to rounding."""

from __future__ import annotations

import numpy as np
from jax import Array, lax


def exact_sum(x: Array, y: Array | np.float64) -> tuple[Array, Array]:
    """The sum, and its rounding error."""
    out = x + y
    other = out - x
    return out, (x - (out - other)) + (y - other)


def exact_product(x: Array, y: Array) -> tuple[Array, Array]:
    """The product, and its rounding error."""
    x0, y0 = lax.reduce_precision(x, 11, 25), lax.reduce_precision(y, 11, 25)
    x1, y1 = x - x0, y - y0
    out = x * y
    return out, ((x0 * y0 - out) + x0 * y1 + x1 * y0) + x1 * y1
