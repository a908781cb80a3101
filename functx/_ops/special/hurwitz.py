"""The Hurwitz zeta function of float64 arrays, by Euler and Maclaurin's summation.

The terms are powers of $1 + k / q$. Powers of $q + k$ would multiply the rounding error of $q + k$
by the exponent.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from .rare_elements import with_rare_elements


_TERMS = 10  # terms that are summed one by one
# $B_{2k} / (2k)!$. With ten terms before them, these leave less than 1e-17 of the sum.
_COEFFICIENTS = (
    *(1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000),
    *(1 / 74724249600, -3617 / 10670622842880000, 43867 / 5109094217170944000),
    *(-174611 / 802857662698291200000, 77683 / 14101100039391805440000),
    -236364091 / 1693824136731743669452800000,
)
_STEEP = 1e3  # the sum ends if the exponent is so many times the first number left out


def zeta_sum(offset: int, s: Array, q: Array) -> Array:
    r"""$\sum_{k \ge 0} (q + k)^{-s - m}$, where $m$ is `offset`.

    It is infinite where the exponent is 1 and where a term is, and NaN for exponents below 1. For
    negative $q$ and whole exponents it is a sum over positive and negative distances; for negative
    $q$ and other exponents it is NaN.
    """
    inside = s > 1 - offset

    def everywhere(q: Array, s: Array) -> Array:
        exponent = s + offset
        power, above = lambda x: x**-exponent, lambda q: _above_zero(offset, s, q)
        return _everywhere(q, jnp.mod(exponent, 2) == 1, exponent, power, above)

    not_below = lambda q, s: _not_below_zero(q, lambda q: _above_zero(offset, s, q))
    out = with_rare_elements(_has_negative, everywhere, not_below)(q, jnp.where(inside, s, 2))
    fractional = (q < 0) & (q != jnp.round(q)) & (s != jnp.round(s))
    out = jnp.where(inside & ~fractional, out, jnp.nan)
    return jnp.where(s == 1 - offset, jnp.inf, out)


def zeta_in_exponent(order: int, offset: int, s: Array, q: Array) -> Array:
    """The derivative of `zeta_sum` in $s$ of `order`: where $q > 0$, else NaN."""
    if order == 0:
        return zeta_sum(offset, s, q)
    positive, inside = q > 0, s > 1 - offset
    function = ft.partial(_above_zero, offset)
    for _ in range(order):
        function = _differentiated(function)
    out = function(jnp.where(inside, s, 2), jnp.where(positive, q, 1))
    pole = jnp.where(s == 1 - offset, (-1.0) ** order * jnp.inf, jnp.nan)
    return jnp.where(positive, jnp.where(inside, out, pole), jnp.nan)


def _differentiated(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda s, q: jax.jvp(lambda s: function(s, q), (s,), (jnp.ones_like(s),))[1]


def polygamma_sum(n: int, x: Array) -> Array:
    r"""$n! \, \zeta(n + 1, x)$, in which no factor leaves the range before the product."""
    power = lambda x: _factorial_power(n, x)

    def above(x: Array) -> Array:
        below, first = _first_summed(x)
        exponent, excess = jnp.full_like(x, n + 1.0), jnp.full_like(x, n)
        return jnp.where(below, power(x), 0) + power(first) * _scaled_sum(exponent, excess, first)

    def everywhere(x: Array) -> Array:
        exponent = jnp.full_like(x, n + 1.0)
        return _everywhere(x, jnp.full(x.shape, n % 2 == 0), exponent, power, above)

    not_below = lambda x: _not_below_zero(x, above)
    return with_rare_elements(_has_negative, everywhere, not_below)(x)


def _has_negative(q: Array, *others: Array) -> Array:
    return jnp.any(q < 0)


def _not_below_zero(q: Array, above: Callable[[Array], Array]) -> Array:
    """`_everywhere` where no $q$ is negative."""
    positive = q > 0
    return jnp.where(positive, above(jnp.where(positive, q, 1)), jnp.where(q == 0, jnp.inf, q))


def _everywhere(
    q: Array,
    odd: Array,
    s: Array,
    power: Callable[[Array], Array],
    above: Callable[[Array], Array],
) -> Array:
    """The sum for $q$ of both signs, by `power` and by `above` for $q > 0$; $s$ is whole."""
    whole = jnp.round(q)
    left = (q < 0) & (q != whole)
    distance = jnp.where(left, q - whole, 0.25)
    near = jnp.abs(distance)
    sign = jnp.where(odd, -1.0, 1.0)
    # These two terms are the nearest; odd powers cancel half way between integers.
    pair = 1 + sign * (near / (1 - near)) ** s
    pair = jnp.where(pair == 0, 0, pair * power(near))
    # One array of both halves has the long code of the sum compiled once.
    places = [1 + near, 2 - near, jnp.where(left, 1 - q, 1), jnp.where(q > 0, q, 1)]
    first, second, beyond, right = jax.vmap(above)(jnp.stack(places))
    mirrored = jnp.where(odd & (distance < 0), -1.0, 1.0) * (pair + (first + sign * second))
    mirrored = mirrored - sign * beyond
    out = jnp.where(q > 0, right, jnp.where(left, mirrored, jnp.inf))
    return jnp.where(q != q, jnp.nan, out)


def _above_zero(offset: int, s: Array, q: Array) -> Array:
    """The sum for $q > 0$, by powers of $s$ and of `offset`, since $s$ + `offset` is rounded."""
    below, first = _first_summed(q)
    alone = jnp.where(below, q**-s * q ** -float(offset), 0)
    return alone + first**-s * first ** -float(offset) * _scaled_sum(
        s + offset, s + (offset - 1), first
    )


def _first_summed(q: Array) -> tuple[Array, Array]:
    """Whether the first term is added by itself, and the number from which on terms are summed."""
    below = q < 1
    return below, jnp.where(below, q + 1, q)


def _scaled_sum(s: Array, excess: Array, q: Array) -> Array:
    r"""$q^s \zeta(s, q)$ for $q \ge 1$ and $s > 1$; `excess` is $s - 1$."""
    at = jnp.clip(q, 1, 1e300)
    s = jnp.clip(s, None, 1e300)
    k = np.arange(1, _TERMS, dtype=np.float64)
    terms = jnp.exp(-s[..., None] * jnp.log1p(k / at[..., None]))
    end = at + _TERMS
    power = jnp.exp(-s * jnp.log1p(_TERMS / at))
    bounded = jnp.minimum(s, _STEEP * end)
    inverse = 1 / end
    rest = jnp.zeros_like(at)
    factors = [bounded * inverse]
    for j in range(1, len(_COEFFICIENTS)):
        step = ((bounded + (2 * j - 1)) * inverse) * ((bounded + 2 * j) * inverse)
        factors.append(factors[-1] * step)
    for factor, coefficient in reversed(list(zip(factors, _COEFFICIENTS, strict=True))):
        rest = rest + coefficient * factor
    rest = end / jnp.clip(excess, None, 1e300) + (0.5 + rest)
    total = 1 + (jnp.sum(terms, axis=-1) + power * rest)
    return jnp.where(q == jnp.inf, 0, total)


def _factorial_power(n: int, x: Array) -> Array:
    """$n! x^{-n-1}$ for $x > 0$."""
    if n <= 170:  # its factorial is finite in double precision
        third, rest = divmod(n + 1, 3)
        power = x ** -float(third)
        return ((float(math.factorial(n)) * power) * power) * x ** -float(third + rest)
    scale = math.sqrt(2 * math.pi * n) * math.exp(1 / (12 * n) - 1 / (360.0 * n**3))
    return scale * (n / math.e / x) ** float(n) / x
