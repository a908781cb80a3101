"""The absolute value that rules share."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category
from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.rules.singular_points import zero_at_singular


def magnitude(x: Array) -> Array:
    """$|x|$, with all derivatives 0 at 0, and of real numbers at NaN.

    There JAX has those of the sign bit for real numbers, NaN for complex ones.
    """
    if category(x.dtype) == 3:
        return complex_magnitude(x)
    flat = (x == 0) | (x != x)
    return lax.abs(jnp.where(flat, lax.stop_gradient(x), x))


def _complex_slope(primals: Any, output: Array, tangents: Any) -> Array:
    zero = output == 0
    size = jnp.where(zero, 1, output).astype(primals[0].dtype)
    instead = "of abs(z)**2 write (z * z.conj()).real"
    turn = zero_at_singular(zero, lax.conj(primals[0]) / size, instead)
    return lax.real(turn * tangents[0])


# The derivative of lax.abs at zero is 1, and the second one of complex numbers infinite.
complex_magnitude = derivative_rules(lax.abs, jvp=_complex_slope, name="abs")
