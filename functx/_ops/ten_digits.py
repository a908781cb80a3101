"""Exponentials and logarithms of float64 arrays on CPUs, to ten digits.

They are for results in single precision that are rounded once: XLA's own to sixteen digits take
twice as long, and its logarithm is one call for each element.
"""

from __future__ import annotations

import math

import numpy as np
from jax import Array, lax

from .binary_exponents import as_number, nearest_exponent, power_of_two
from .polynomials import by_halves


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
# The last bits of its sum with a whole number are that number: processors with vectors of 256 bits
# have no instruction that converts to int64.
_WHOLE = np.float64(1.5 * 2**52)


def exponential(x: Array) -> Array:
    """$e^x$ for $x$ from -700 to 700."""
    power, less = power_and_rest(x)
    return power * less + power


def power_and_rest(x: Array) -> tuple[Array, Array]:
    """$2^k$ and $r$ with $e^x = 2^k (1 + r)$, for $x$ from -700 to 700."""
    whole = lax.round(x * np.float64(1 / math.log(2)), lax.RoundingMethod.TO_NEAREST_EVEN)
    part = x - whole * np.float64(math.log(2))
    return _power(whole), part * by_halves(_EXPONENTIAL, part)


def exponential_to_2(x: Array) -> Array:
    """$2^x$ for $x$ from -1022 to 1023; of whole numbers it is exact."""
    whole = lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    part = (x - whole) * np.float64(math.log(2))
    return _power(whole) * (np.float64(1) + part * by_halves(_EXPONENTIAL, part))


def _power(whole: Array) -> Array:
    """Two to the power of whole numbers from -1022 to 1023."""
    exponent = lax.bitcast_convert_type(whole + _WHOLE, np.int64)
    return lax.bitcast_convert_type((exponent + np.int64(1023)) << np.int64(52), np.float64)


def logarithm(x: Array) -> Array:
    r"""$\ln x$ of positive normal numbers, with an error of 1e-10 of the greater of it and 1."""
    return logarithm_of_sum(x, np.float64(0), x)


def logarithm_of_sum(x: Array, whole: Array | np.float64, total: Array) -> Array:
    r"""$\ln(w + x)$ with the digits of a small `x`, where `whole` $w$ is 0 or 1.

    `total` is the sum, rounded: a positive normal number.
    """
    exponent = nearest_exponent(total)
    scale = power_of_two(-exponent)
    part = x * scale + (whole * scale - np.float64(1))
    return as_number(exponent) * np.float64(math.log(2)) + part * by_halves(_LOGARITHM, part)
