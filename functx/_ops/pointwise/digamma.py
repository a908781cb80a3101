"""The derivative of the logarithm of the gamma function, whose roots cost digits.

It is computed with more digits than the result has: on CPUs in double precision for results in
single precision, and in two parts for results in double precision. Each result depends on its own
element alone.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._ops import two_parts
from functx._ops.polynomials import horner
from functx._ops.two_parts import constant, TwoParts

from .stirling import (
    BERNOULLI,
    by_precision,
    COSINE,
    cosine,
    distance,
    logarithm,
    shifted,
    SINE,
    sine,
)


_STEPS = 8  # where the series is short of 1e-15
_SERIES = [constant(b / (2 * k)) for k, b in enumerate(BERNOULLI, 1)]
_PI = constant(two_parts.PI)
# The positive root in two parts, and powers of the distance from it.
_ROOT = 1.4616321449683622, 9.549995429965697e-17
_NEAR = 2.0**-8
_AT_ROOT = (
    *(0.9676722454476212, -0.4427631689835921, 0.258499760955651, -0.16394270544240652),
    *(0.10782405069126237, -0.07219956125645471, 0.04880428816414311),
)


def digamma(x: Array) -> Array:
    r"""$\psi(x)$ of floating numbers: at 0 infinite with the sign of $-x$, at other poles NaN."""
    return by_precision(x, _in_double, _in_two_parts, _general)


def _in_double(x: Array) -> Array:
    with jax.enable_x64(True):
        wide = lax.convert_element_type(x, np.float64)
        one, half = np.float64(1), np.float64(0.5)
        mirrored = wide < np.float64(0)
        right = jnp.where(mirrored, one - wide, wide)
        near = right < np.float64(_STEPS)
        # The logarithmic derivative of the factors is a quotient of polynomials.
        slope, product = one, right
        for k in range(1, _STEPS):
            factor = right + np.float64(k)
            slope, product = slope * factor + product, product * factor
        far = jnp.where(near, right + np.float64(_STEPS), right)
        below = jnp.where(near, slope / product, np.float64(0))
        inverse = jnp.where(far > np.float64(1e30), np.float64(0), one / far)
        square = inverse * inverse
        series = square * horner([c.rounded for c in _SERIES[:11]], square)
        out = logarithm(far) - (half * inverse + series) - below
        off = wide - lax.round(wide, lax.RoundingMethod.TO_NEAREST_EVEN)
        square = off * off
        above = horner([c.rounded for c in COSINE[:11]], square)
        under = off * horner([c.rounded for c in SINE[:10]], square)
        mirror = jnp.where(mirrored, np.float64(np.pi) * above / under, np.float64(0))
        out = lax.convert_element_type(out - mirror, np.float32)
    return _at_ends(x, out)


def _in_two_parts(x: Array) -> Array:
    y = shifted(x)
    # The derivative of each factor is the sum of its ends: `y.middle`.
    slope, product = _inverses(y.factors)
    below = two_parts.over(two_parts.times(slope, y.middle), product)
    zero = TwoParts(jnp.zeros_like(x), jnp.zeros_like(x))
    below = two_parts.where(y.near, below, zero)
    inverse = two_parts.over(constant(1.0), y.far)
    square = two_parts.times(inverse, inverse)
    series = two_parts.times(square, two_parts.series(_SERIES[:1], _SERIES[1:], square))
    series = two_parts.plus(TwoParts(0.5 * inverse.first, 0.5 * inverse.rest), series)
    off = distance(x)
    mirror = two_parts.times(two_parts.over(cosine(off, 7), sine(off, 6)), _PI)
    above = x > lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    mirror = two_parts.where(above, mirror, TwoParts(-mirror.first, -mirror.rest))
    less = two_parts.plus(below, two_parts.where(x < 0, mirror, zero))
    less = two_parts.plus(less, series)
    total = two_parts.logarithm(y.far)
    first = total.first - less.first
    out = first + (((total.first - first) - less.first) + (total.rest - less.rest))
    off = x - _ROOT[0]
    near = lax.abs(off) < _NEAR
    # XLA would join constants that are subtracted one after the other.
    off = jnp.where(near, off, 0) - _ROOT[1]
    out = jnp.where(near, off * horner(_AT_ROOT, off), out)
    return _at_ends(x, out)


def _inverses(factors: list[TwoParts]) -> tuple[TwoParts, TwoParts]:
    """The sum of the inverses of rising factors, as one quotient."""
    first, second, *others = factors
    above, below = two_parts.plus(second, first), two_parts.times(first, second)
    for factor in others:
        above = two_parts.plus(two_parts.times(above, factor), below)
        below = two_parts.times(below, factor)
    return above, below


def _general(x: Array) -> Array:
    return _at_ends(x, lax.digamma(x))


def _at_ends(x: Array, out: Array) -> Array:
    """`out` with the values at infinity and at poles, and with $-1 / x$ close to 0."""
    size = lax.abs(x)
    out = jnp.where(size < 1e-20, -1 / x, out)
    out = jnp.where((x < 0) & (x == lax.round(x)), np.nan, out)
    return jnp.where(size == np.inf, jnp.where(x > 0, x, np.nan), jnp.where(x != x, x, out))
