"""Numbers of 78 bits, as two float64 arrays, and their arithmetic.

The first part has 26 bits, so that its products are exact, whether or not they are fused with sums.
XLA joins constants that are added one after the other: in sums they come second.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from . import roundoff
from .binary_exponents import as_number, nearest_exponent, power_of_two


PI = Fraction(31415926535897932384626433833, 10**28)
_LOW_BITS = 27


class TwoParts(NamedTuple):
    """`first + rest`."""

    first: Any  # an array of float64, or a number
    rest: Any

    @property
    def rounded(self) -> Any:
        """The nearest float64, or nearly."""
        return self.first + self.rest


def constant(value: Fraction | float) -> TwoParts:
    """A number, as scalars."""
    first = (np.float64(value).view(np.int64) & np.int64(-1 << _LOW_BITS)).view(np.float64)
    return TwoParts(first, np.float64(Fraction(value) - Fraction(float(first))))


def parted(x: Array) -> TwoParts:
    """A float64 array."""
    first = _cut(x)
    return TwoParts(first, x - first)


def exact_sum(x: Array, y: Array | np.float64) -> TwoParts:
    """$x + y$ of float64 arrays, or of an array and a constant."""
    return joined(*roundoff.exact_sum(x, y))


def plus(x: TwoParts, y: TwoParts) -> TwoParts:
    """$x + y$, as exact as the larger of them, which is $x$ if one is 1e8 times the other."""
    total = x.first + y.first
    return joined(total, (y.first - (total - x.first)) + (x.rest + y.rest))


def raised(x: TwoParts, by: float) -> TwoParts:
    """$x$ plus few units, which its own first part is not small beside, nor it equal to."""
    return joined(x.first + np.float64(by), x.rest)


def times(x: TwoParts, y: TwoParts) -> TwoParts:
    """$x y$."""
    return joined(x.first * y.first, x.first * y.rest + x.rest * y.rounded)


def product(factors: Sequence[TwoParts]) -> TwoParts:
    """Of all, by pairs."""
    while len(factors) > 1:
        pairs = [times(x, y) for x, y in zip(factors[::2], factors[1::2], strict=False)]
        factors = pairs + list(factors[len(pairs) * 2 :])
    return factors[0]


def over(x: TwoParts, y: TwoParts) -> TwoParts:
    """$x / y$."""
    # Not the quotient itself: XLA would write to memory what is dear and used twice.
    inverse = _cut(1 / y.rounded, 1)
    first = _cut(x.first * inverse)
    return TwoParts(first, ((x.first - first * y.first) + (x.rest - first * y.rest)) * inverse)


def where(condition: Array, x: TwoParts, y: TwoParts) -> TwoParts:
    """One or the other, element by element."""
    return TwoParts(jnp.where(condition, x.first, y.first), jnp.where(condition, x.rest, y.rest))


def series(coefficients: Sequence[TwoParts], tail: Sequence[TwoParts], x: TwoParts) -> TwoParts:
    r"""$\sum_k c_k x^k$ of falling terms; of those in `tail`, which come last, to 53 bits."""
    rounded = x.rounded
    total = jnp.zeros_like(rounded)
    for coefficient in reversed(tail):
        total = total * rounded + coefficient.rounded
    out = parted(total)
    for coefficient in reversed(coefficients):
        product = out.first * x.first
        rest = out.first * x.rest + out.rest * rounded + coefficient.rest
        first = _cut(product + coefficient.first + rest)
        out = TwoParts(first, ((coefficient.first - first) + product) + rest)
    return out


def logarithm(x: TwoParts) -> TwoParts:
    r"""$\ln x$ of numbers from 1e-300 to 1e300, as exact as a half of it or 1 is."""
    whole = nearest_exponent(x.first)
    scale, power = power_of_two(-whole), as_number(whole)
    # $2 \operatorname{artanh}((m - 1) / (m + 1))$ of what is left without the power of 2.
    first, rest = x.first * scale, x.rest * scale
    ratio = over(TwoParts(first - 1, rest), raised(TwoParts(first, rest), 1))
    out = times(ratio, series(_ARTANH[:2], _ARTANH[2:], times(ratio, ratio)))
    return plus(TwoParts(power * _LN2.first, power * _LN2.rest), out)


def joined(x: Array, y: Array) -> TwoParts:
    """$x + y$, of which `x` is the larger."""
    first = _cut(x + y)
    return TwoParts(first, (x - first) + y)


def _cut(x: Array, bits: int = _LOW_BITS) -> Array:
    """`x` without its last bits."""
    whole = lax.bitcast_convert_type(x, np.int64) & np.int64(-1 << bits)
    return lax.bitcast_convert_type(whole, np.float64)


_ARTANH = [constant(Fraction(2, 2 * k + 1)) for k in range(13)]
_LN2 = constant(Fraction(69314718055994530941723212, 10**26))
