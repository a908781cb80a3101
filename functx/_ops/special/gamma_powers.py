r"""$x^a e^{-x} / \Gamma(1 + a)$ of float64 arrays, and its derivatives in $a$.

All digits are right, although the exponent of the power is large.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._ops.polynomials import horner
from functx._ops.roundoff import exact_product, exact_sum


# $(1 / \Gamma(1 + z) - 1) / (z (1 - z))$ by powers of $2 z - 1$, for $z$ from 0 to 1: Chebyshev's
# interpolant, to 1e-16.
_INVERSE_GAMMA = (
    *(0.5135166683820503, -0.0823490528905662, -0.013137767143494185, 0.005201960131400789),
    *(-0.00039605208156762563, -6.743603966274907e-05, 1.725403260842401e-05),
    *(-1.1631821003280305e-06, -1.0112761720417702e-07, 2.7111863051522477e-08),
    *(-2.0838548512501498e-09, -3.041925589853182e-11, 2.182370125480431e-11),
    *(-2.048173022263475e-12, 5.1445013189641984e-14),
)
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # $B_2$, $B_4$, ...
_LARGE = 10  # from here on Stirling's series has all digits
_FAR = 4000.0  # Where $|x - a|$ is more than this, and more than half of $a$, the power is 0.


class Power(NamedTuple):
    """The product `half * half * rest`; no factor leaves the range before the product does."""

    half: Array
    rest: Array


@jax.jit
def power(a: Array, x: Array) -> Power:
    r"""$x^a e^{-x} / \Gamma(1 + a)$ for $a \ge 0$ and $x > 0$ up to 1e290.

    Where $a$ is large it goes by Stirling's series. Near $a$ the exponent is
    $a (\ln(1 + m) - m) = 2 a (s^3 / 3 + s^5 / 5 + ...) - a m s$, with $m = x / a - 1$ and
    $s = m / (2 + m)$; elsewhere it is that of powers, which are exact to the last digit.
    """
    large = a >= _LARGE
    near = large & (jnp.abs(x - a) < 0.5 * a)
    total, total_lost = exact_sum(x, a)
    difference, difference_lost = exact_sum(jnp.where(large, a, 0), -x)
    divisor = jnp.where(near, total, jnp.where(large, a, 1))
    divided = jnp.where(near, -difference, x)
    quotient = divided / divisor
    product, product_lost = exact_product(quotient, divisor)
    remainder = (divided - product) - product_lost
    # This is for $x$ near $a$.
    square = quotient * quotient
    most, most_lost = exact_product(divided, quotient)
    rest = 2 * a * quotient * square * horner([1 / (2 * n + 3) for n in range(17)], square)
    exponent, exponent_lost = exact_sum(rest, -most)
    lost = exponent_lost - most_lost
    lost = lost - divided * ((remainder - quotient * total_lost) / divisor)
    # This is for other $x$; powers with an eighth of the exponent stay in range.
    apart = ~near & (jnp.abs(difference) < _FAR) & (quotient > 0)
    part = jnp.where(large, 0.125, 0.5)
    base, steps = jnp.where(apart, quotient, 1), jnp.where(apart, a * part, 0)
    away = jnp.where(apart, difference * part, -jnp.inf)
    root = base**steps * jnp.exp(jnp.where(near, 0.5 * exponent, away))
    half = jnp.where(large & ~near, (root * root) * (root * root), root)
    lost = jnp.where(near, lost, remainder / base + difference_lost)
    stirling = stirling_tail(-1, jnp.maximum(a, _LARGE))
    factor = jnp.sqrt(0.5 / math.pi / jnp.maximum(a, _LARGE)) * jnp.exp(-stirling)
    inverse, _ = over_gamma(jnp.where(large, 0, a))
    return Power(half, jnp.where(large, factor * (1 + lost), inverse))


@jax.jit
def over_gamma(a: Array) -> tuple[Array, Array]:
    r"""$1 / \Gamma(1 + a)$ for $0 \le a < 10$, and its excess over 1."""
    whole = jnp.floor(a)
    z = a - whole
    more = z * (1 - z) * horner(_INVERSE_GAMMA, 2 * z - 1)
    n = np.arange(1.0, _LARGE)
    product = jnp.prod(jnp.where(n <= whole[..., None], z[..., None] + n, 1), axis=-1)
    out = (1 + more) / product
    return out, jnp.where(whole == 0, more, out - 1)


def relative_slopes(order: int, a: Array, x: Array) -> list[Array]:
    r"""The derivatives of the power in $a$ up to `order`, each divided by the power.

    The first is $\ln x - \psi(1 + a)$; higher ones follow from it by Leibniz's rule.
    """
    logarithms = [_log_slope(j, a, x) for j in range(order)]
    out = [jnp.ones_like(a)]
    for n in range(order):
        terms = (math.comb(n, j) * logarithms[j] * out[n - j] for j in range(n + 1))
        out.append(sum(terms, jnp.zeros_like(a)))
    return out


@jax.jit
def _first_log_slope(a: Array, x: Array) -> Array:
    r"""$\ln x - \psi(1 + a)$, the first derivative of the logarithm of the power in $a$."""
    high = a + _LARGE
    difference = (x - a) - _LARGE
    near = jnp.abs(difference) < 0.5 * high
    close = jnp.log1p(jnp.where(near, difference / high, 0))
    # The smallest $x$ are enlarged, so that no quotient is 0 unless the power is.
    tiny = x < 1e-290
    away = jnp.where(near, 1, jnp.where(tiny, x * 2.0**64, x)) / jnp.where(near, 1, high)
    away = jnp.log(jnp.maximum(away, 1e-300)) - jnp.where(tiny, 64 * math.log(2), 0)
    logarithm = jnp.where(near, close, away)
    return logarithm + 0.5 / high + stirling_tail(0, high) + _reciprocals(1, a)


def _log_slope(order: int, a: Array, x: Array) -> Array:
    r"""The derivative of $\ln x - \psi(1 + a)$ in $a$ of `order`."""
    return _first_log_slope(a, x) if order == 0 else _polygamma(order, a)


def _polygamma(order: int, a: Array) -> Array:
    r"""$-\psi^{(n)}(1 + a)$ for an `order` $n > 0$."""
    inverse = 1 / (a + _LARGE)
    first = (1 + (0.5 * order) * inverse) * math.factorial(order - 1)
    sign = -1 if order % 2 else 1
    tail = stirling_tail(order, a + _LARGE)
    rest = first * inverse**order + tail
    return sign * (rest + math.factorial(order) * _reciprocals(order + 1, a))


def _reciprocals(exponent: int, a: Array) -> Array:
    r"""$\sum_{0 < k < 10} (a + k)^{-n}$ for an `exponent` $n$."""
    return jnp.sum((1 / (a[..., None] + np.arange(1.0, _LARGE))) ** exponent, axis=-1)


def stirling_tail(order: int, x: Array) -> Array:
    r"""$\sum_k B_{2k} \frac{(2k + n - 1)!}{(2k)!} x^{-2k-n}$ for $x \ge 10$ and an `order` $n$.

    Up to a sign these are the derivatives of the last sum in Stirling's series for $\psi$; $n = -1$
    gives that of $\ln \Gamma$.
    """
    inverse = 1 / x
    coefficients = [
        b * math.factorial(2 * k + order - 1) / math.factorial(2 * k)
        for k, b in enumerate(_BERNOULLI, 1)
    ]
    return horner(coefficients, inverse * inverse) * inverse ** (order + 2)
