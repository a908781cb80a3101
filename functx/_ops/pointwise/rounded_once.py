r"""$\ln(1 + x)$, $e^x - 1$, $2^x$ and $\ln(x / (1 - x))$ in single precision on CPUs.

Polynomials in double precision are rounded once: results are within 0.51 ulp, and no slower than
XLA's, which are within 3. Each result depends on its own element alone.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._ops.ten_digits import exponential_to_2, logarithm_of_sum, power_and_rest


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


def power_of_2(x: Array) -> Array:
    r"""$2^x$ of float32 arrays."""
    with jax.enable_x64(True):
        wide = lax.convert_element_type(x, np.float64)
        out = exponential_to_2(lax.clamp(np.float64(-300), wide, np.float64(300)))
        return lax.convert_element_type(out, np.float32)


def log_of_odds(x: Array) -> Array:
    r"""$\ln(x / (1 - x))$ of float32 arrays."""
    with jax.enable_x64(True):
        wide = lax.convert_element_type(x, np.float64)
        one = np.float64(1)
        # Above 1/4 the odds are 1 and a part, which has the digits near 1/2.
        low = wide < 0.25
        whole = jnp.where(low, np.float64(0), one)
        part = jnp.where(low, wide, (wide - one) + wide) / (one - wide)
        out = logarithm_of_sum(part, whole, whole + part)
        out = lax.convert_element_type(out, np.float32)
    ends = jnp.where(x == 0, -np.inf, jnp.where(x == 1, np.inf, np.nan))
    return jnp.where((x > 0) & (x < 1), out, ends)
