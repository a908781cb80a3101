r"""$\ln(1 + x)$ and $e^x - 1$ in single precision on CPUs.

Polynomials in double precision are rounded once: results are within 0.51 ulp, and no slower than
XLA's, which are within 3. Each result depends on its own element alone.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._ops.ten_digits import logarithm_of_sum, power_and_rest


def logarithm_of_1_plus(x: Array) -> Array:
    r"""$\ln(1 + x)$ of float32 arrays."""
    with jax.enable_x64(True):
        wide = lax.convert_element_type(x, np.float64)
        one = np.float64(1)
        out = logarithm_of_sum(wide, one, wide + one)
        out = lax.convert_element_type(out, np.float32)
    out = jnp.where(x <= -1, jnp.where(x == -1, -np.inf, np.nan), out)
    out = jnp.where(x == np.inf, x, out)
    return jnp.where(x == 0, x, out)  # -0.0, and what is flushed


def exponential_less_1(x: Array) -> Array:
    r"""$e^x - 1$ of float32 arrays."""
    with jax.enable_x64(True):
        wide = lax.convert_element_type(x, np.float64)
        wide = lax.clamp(np.float64(-80), wide, np.float64(100))
        power, rest = power_and_rest(wide)
        out = power * rest + (power - np.float64(1))
        out = lax.convert_element_type(out, np.float32)
    return jnp.where(x == 0, x, out)  # -0.0, and what is flushed
