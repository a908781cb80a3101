"""Parts of the logarithm of the gamma function and of its derivative, far from 0 and below it.

Results in single precision are computed in double precision, results in double precision in two
parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import platform_dependent
from functx._ops import two_parts
from functx._ops.binary_exponents import as_number, nearest_exponent
from functx._ops.polynomials import horner
from functx._ops.two_parts import constant, parted, PI, TwoParts


# $\log_2((1 + z) / (1 - z)) / z$ by powers of $z^2$, for arguments of the logarithm between
# $\sqrt{1/2}$ and $\sqrt 2$: Chebyshev's interpolant, to 2e-16.
_LOGARITHM = (
    *(2.885390081777927, 0.9617966939243335, 0.5770780172467822, 0.4121984019742357),
    *(0.3206163935263423, 0.26144407006393944, 0.2429183013526297),
)
# $B_{2k}$ from $k = 1$ on.
BERNOULLI = (
    *(Fraction(1, 6), Fraction(-1, 30), Fraction(1, 42), Fraction(-1, 30), Fraction(5, 66)),
    *(Fraction(-691, 2730), Fraction(7, 6), Fraction(-3617, 510), Fraction(43867, 798)),
    *(Fraction(-174611, 330), Fraction(854513, 138), Fraction(-236364091, 2730)),
    *(Fraction(8553103, 6), Fraction(-23749461029, 870)),
)
# $\sin(\pi x) / x$ and $\cos \pi x$ by powers of $x^2$, for $|x| \le 1/2$.
SINE = [constant((-1) ** k * PI ** (2 * k + 1) / math.factorial(2 * k + 1)) for k in range(14)]
COSINE = [constant((-1) ** k * PI ** (2 * k) / math.factorial(2 * k)) for k in range(14)]
_STEPS = 10  # from here on the error of Stirling's series is below 2^-70


def logarithm(x: Array) -> Array:
    """Natural logarithm of positive numbers in double precision."""
    whole = nearest_exponent(x)
    bits = lax.bitcast_convert_type(x, np.int64)
    part = lax.bitcast_convert_type(bits - (whole << np.int64(52)), np.float64)
    ratio = (part - np.float64(1)) / (part + np.float64(1))
    # A quotient that is used twice XLA would write to memory; the result of a choice it does not.
    ratio = jnp.where(x == np.inf, np.float64(np.inf), ratio)
    out = as_number(whole) + ratio * horner(_LOGARITHM, ratio * ratio)
    return out * np.float64(math.log(2))


def by_precision(
    x: Array,
    in_double: Callable[[Array], Array],
    in_two_parts: Callable[[Array], Array],
    general: Callable[[Array], Array],
) -> Array:
    """The result of `in_double` or `in_two_parts` by the precision of `x`, or of `general`.

    `general` serves where double precision is slow, or has no bits to look at.
    """
    if x.dtype == np.float32:
        return platform_dependent(x, cpu=in_double, default=general)
    return platform_dependent(x, tpu=general, default=in_two_parts)


class Shifted(NamedTuple):
    """A number above 0, or 1 minus one below 0, and the larger number that it is shifted to."""

    right: TwoParts
    near: Array  # whether `far` differs from `right`
    far: TwoParts
    factors: list[TwoParts]  # their product is that of $y, y + 1, \dots$ up to `far`
    middle: TwoParts  # $2y + 9$, the derivative of each factor


def shifted(x: Array) -> Shifted:
    """What reflection makes of a finite `x`, and the larger number that it is shifted to."""
    right = two_parts.where(x < 0, two_parts.exact_sum(-x, np.float64(1)), parted(x))
    near = right.first < _STEPS
    last = two_parts.raised(right, _STEPS - 1)
    far = two_parts.exact_sum(right.first, np.float64(_STEPS))
    far = TwoParts(far.first, far.rest + right.rest)
    # $(y + k) (y + n - k) = y (y + n) + k (n - k)$.
    product = two_parts.times(right, last)
    pairs = [k * (_STEPS - 1 - k) for k in range(1, _STEPS // 2)]
    factors = [product, *[two_parts.raised(product, pair) for pair in pairs]]
    middle = two_parts.plus(last, right)
    return Shifted(right, near, two_parts.where(near, far, right), factors, middle)


def distance(x: Array) -> TwoParts:
    """The distance of `x` from the nearest integer."""
    return parted(lax.abs(x - lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)))


def sine(off: TwoParts, exact: int) -> TwoParts:
    r"""$\sin(\pi d)$ of a distance `off`, $d$, with the first `exact` terms in two parts."""
    return two_parts.times(_wave(SINE, off, exact), off)


def cosine(off: TwoParts, exact: int) -> TwoParts:
    r"""$\cos(\pi d)$ of a distance `off`, $d$, with the first `exact` terms in two parts."""
    return _wave(COSINE, off, exact)


def _wave(coefficients: list[TwoParts], off: TwoParts, exact: int) -> TwoParts:
    square = two_parts.times(off, off)
    return two_parts.series(coefficients[:exact], coefficients[exact:], square)
