"""The absolute value that rules share."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category


def magnitude(x: Array) -> Array:
    """$|x|$, with all derivatives 0 at 0, and of real numbers at NaN.

    There JAX has those of the sign bit for real numbers, NaN for complex ones.
    """
    if category(x.dtype) == 3:
        zero = x == 0
        return jnp.where(zero, 0, lax.abs(jnp.where(zero, 1, x)))
    flat = (x == 0) | (x != x)
    return lax.abs(jnp.where(flat, lax.stop_gradient(x), x))
