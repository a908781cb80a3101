r"""$\ln(1 + x)$ and $e^x - 1$ in double precision.

What the largest terms lose by rounding is added again: results are within 0.6 ulp, and no slower
than XLA's, which are within 3.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._ops.binary_exponents import as_number, nearest_exponent, power_of_two
from functx._ops.polynomials import horner
from functx._ops.two_parts import parted


# $(\ln\frac{1 + s}{1 - s} - 2 s) / s^3$ by powers of $s^2$, and $(e^r - 1 - r - r^2 / 2) / r^3$ by
# powers of $r$, up to half of $\ln 2$: Chebyshev's interpolants.
_LOGARITHM = (
    *(0.666666666666667, 0.39999999999899505, 0.28571428625975487, 0.2222221113479508),
    *(0.18182889125261723, 0.15331721600556042, 0.14616449685043406),
)
_EXPONENTIAL = (
    *(0.16666666666666669, 0.041666666666666664, 0.008333333333330039, 0.0013888888888886537),
    *(0.00019841269863171557, 2.4801587317228724e-05, 2.7557268276905696e-06),
    *(2.7557282838800484e-07, 2.5100472505694996e-08, 2.09112987659402e-09),
)
_LN2 = 0.693147180559663, 2.8235290563031577e-13  # the first part has 41 bits


def logarithm_of_1_plus(x: Array) -> Array:
    r"""$\ln(1 + x)$ of float64 arrays."""
    whole = nearest_exponent(x + 1)
    power = as_number(whole)
    scale = power_of_two(-whole)
    first, last = x * scale, scale - 1
    part = first + last
    back = part - first
    lost = (first - (part - back)) + (last - back)
    # $\ln(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R)$, where $s = f / (2 + f)$.
    square, rest = _half_square(part)
    less = part - square
    ratio = part / (part + 2)
    small = ratio * ratio
    series = ratio * (0.5 * part * part + small * horner(_LOGARITHM, small))
    series = series + ((((part - less) - square) - rest) + lost * (1 - part * (1 - part)))
    high = power * _LN2[0]
    out = high + less
    out = out + (((high - out) + less) + (series + power * _LN2[1]))
    out = jnp.where(x <= -1, jnp.where(x == -1, -np.inf, np.nan), out)
    out = jnp.where(x == np.inf, x, out)
    return jnp.where(lax.abs(x) < 1e-20, x, out)


def exponential_less_1(x: Array) -> Array:
    r"""$e^x - 1$ of float64 arrays."""
    bounded = lax.clamp(np.float64(-80), x, np.float64(800))
    power = lax.round(bounded * (1 / math.log(2)), lax.RoundingMethod.TO_NEAREST_EVEN)
    first, last = bounded - power * _LN2[0], power * -_LN2[1]
    part = first + last
    lost = (first - part) + last
    square, rest = _half_square(part)
    more = part + square
    series = part * part * part * horner(_EXPONENTIAL, part)
    series = series + (((part - more) + square) + (rest + lost * (1 + part)))
    whole = lax.convert_element_type(lax.convert_element_type(power, np.int32), np.int64)
    # $2^k (e^r - 1 + (1 - 2^{-k}))$.
    inverse = power_of_two(-lax.min(whole, np.int64(1000)))
    one = 1 - inverse
    out = more + one
    back = out - more
    beyond = jnp.where(power > 53, inverse, 0)  # what `one` lost by rounding
    series = series + (((more - (out - back)) + (one - back)) - beyond)
    half = whole >> np.int64(1)
    out = (out + series) * power_of_two(half) * power_of_two(whole - half)
    return jnp.where(lax.abs(x) < 1e-20, x, out)


def _half_square(x: Array) -> tuple[Array, Array]:
    """$x^2 / 2$ as a sum of two parts."""
    first, rest = parted(x)
    return 0.5 * first * first, rest * (0.5 * (x + first))
