r"""$\ln(1 + x)$ and $e^x - 1$ in single precision on CPUs.

Polynomials in double precision are rounded once: results are within 0.51 ulp, and no slower than
XLA's, which are within 3. Each result depends on its own element alone.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._ops.binary_exponents import as_number, nearest_exponent, power_of_two
from functx._ops.polynomials import horner


# $\ln(1 + f) / f$ from $\sqrt{1/2} - 1$ to $\sqrt 2 - 1$, and $(e^r - 1) / r$ for $|r|$ up to half
# of $\ln 2$: Chebyshev's interpolants, with relative errors below 2e-10.
_LOGARITHM = (
    *(1.000000000048012, -0.5000000030845538, 0.3333333084628052, -0.24999936585814816),
    *(0.2000016963794254, -0.16670383652377296, 0.14283798395270253, -0.12410885665961421),
    *(0.11042736039719009, -0.10898112577877182, 0.10636542375579953, -0.058456713350896375),
)
_EXPONENTIAL = (
    *(1.0, 0.5000000047117757, 0.16666666718997508, 0.04166635289677516),
    *(0.008333298483754886, 0.0013941108433972674, 0.0001989927395864936),
)


def logarithm_of_1_plus(x: Array) -> Array:
    r"""$\ln(1 + x)$ of float32 arrays."""
    with jax.enable_x64(True):
        wide = lax.convert_element_type(x, np.float64)
        one = np.float64(1)
        whole = nearest_exponent(wide + one)
        scale = power_of_two(-whole)
        part = wide * scale + (scale - one)
        out = as_number(whole) * np.float64(math.log(2)) + part * horner(_LOGARITHM, part)
        out = lax.convert_element_type(out, np.float32)
    out = jnp.where(x <= -1, jnp.where(x == -1, -np.inf, np.nan), out)
    out = jnp.where(x == np.inf, x, out)
    return jnp.where(x == 0, x, out)  # -0.0, and what is flushed


def exponential_less_1(x: Array) -> Array:
    r"""$e^x - 1$ of float32 arrays."""
    with jax.enable_x64(True):
        wide = lax.convert_element_type(x, np.float64)
        wide = lax.clamp(np.float64(-80), wide, np.float64(100))
        power = wide * np.float64(1 / math.log(2))
        power = lax.round(power, lax.RoundingMethod.TO_NEAREST_EVEN)
        part = wide - power * np.float64(math.log(2))
        whole = lax.convert_element_type(lax.convert_element_type(power, np.int32), np.int64)
        scale = power_of_two(whole)
        out = scale * (part * horner(_EXPONENTIAL, part)) + (scale - np.float64(1))
        out = lax.convert_element_type(out, np.float32)
    return jnp.where(x == 0, x, out)  # -0.0, and what is flushed
