"""The larger of two numbers and its gap to the other, of which sums of exponentials are made."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category


def log_add_exp(x: Array, y: Array) -> Array:
    r"""$\ln(e^x + e^y)$; where both are the same infinity, the derivative is that of `x`."""
    high, gap = larger_and_gap(x, y)
    return high + lax.log1p(lax.exp(gap))


def larger_and_gap(x: Array, y: Array) -> tuple[Array, Array]:
    """The larger of two numbers, by real parts, and the other minus that: at most 0."""
    x, y = jnp.broadcast_arrays(x, y)
    first = lax.real(x) >= lax.real(y) if category(x.dtype) == 3 else x >= y
    high, low = jnp.where(first, x, y), jnp.where(first, y, x)
    # Swapping equal numbers is smooth: every derivative is right there, unlike that of |x - y|.
    return high, jnp.where((x == y) & jnp.isinf(x), 0, low - high)
