"""Orthogonal polynomials of any degree, by recurrence in the degree, for float64 arrays.

The polynomials of Jacobi and Laguerre, divided by their values at 1 and at 0, differ from one
degree to the next by sums of small terms, which keeps their digits near there. Derivatives are
polynomials of the same families. Degrees are whole numbers in floating arrays, and may differ from
element to element.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array, lax

from functx._core import equally_varying


HIGHEST = 2.0**20  # the highest degree that is computed
_FAR = 2.0**520  # from here on all polynomials but those of degrees 0 and 1 are infinite
_HUGE = 2.0**400  # larger numbers are scaled by a power of 2, which exceeds the growth in a step
_EXPONENT = 560

RecurrenceStep = Callable[[Array, Array, Array], tuple[Array, Array]]


def jacobi(alpha: Array, beta: Array, n: Array, x: Array, less: Array) -> Array:
    r"""$P_n^{(\alpha,\beta)}(x) / P_n^{(\alpha,\beta)}(1)$ for $x \ge 0$; `less` is $1 - x$."""
    total, bounded = alpha + beta, jnp.minimum(x, _FAR)
    below = jnp.maximum(less, -_FAR)
    middle = x < 0.5  # here the distance to 0 has the digits, and that to 1 has none

    def step(k: Array, first: Array, last: Array) -> tuple[Array, Array]:
        twice = 2 * k + total
        shared = (k + total) * (k + alpha)
        slope = (twice - 1) * twice / (2 * shared)
        kept = (k + beta - 1) * twice * (k - 1) / (shared * (twice - 2))
        offset = (twice - 1) * (alpha * alpha - beta * beta) / (2 * shared * (twice - 2))
        change = kept * first - slope * below * last
        there = (slope * bounded + offset) * last - kept * first
        return jnp.where(middle, last, change), jnp.where(middle, there, last + change)

    slope = (total + 2) / (2 * (alpha + 1))
    second = jnp.where(middle, slope * x + (alpha - beta) / (2 * (alpha + 1)), 1 - slope * less)
    first = jnp.where(middle, 1, -slope * below)
    out = _from_second(step, n, first, jnp.clip(second, -_FAR, _FAR))
    out = jnp.where(n == 1, second, out)
    return jnp.where((less == 0) & (n < jnp.inf), 1, out)


def laguerre(alpha: float, n: Array, x: Array) -> Array:
    r"""$L_n^{(\alpha)}(x) / L_n^{(\alpha)}(0)$, Laguerre's polynomial divided by its value at 0."""
    bounded = jnp.clip(x, -_FAR, _FAR)

    def step(k: Array, change: Array, last: Array) -> tuple[Array, Array]:
        change = ((k - 1) * change - bounded * last) / (k + alpha)
        return change, last + change

    first = bounded * (-1 / (1 + alpha))
    out = _from_second(step, n, first, 1 + first)
    out = jnp.where(n == 1, 1 - x / (1 + alpha), out)
    return jnp.where((x == 0) & (n < jnp.inf), 1, out)


def hermite(scale: float, n: Array, x: Array) -> Array:
    r"""$He_n(x)$ for a `scale` of 1, $H_n(x)$ for 2."""
    bounded = jnp.clip(x, -_FAR, _FAR)

    def step(k: Array, before: Array, last: Array) -> tuple[Array, Array]:
        return last, scale * (bounded * last - (k - 1) * before)

    out = _from_second(step, n, jnp.ones_like(x), scale * bounded)
    return jnp.where(n == 1, scale * x, out)


def _from_second(step: RecurrenceStep, n: Array, first: Array, second: Array) -> Array:
    """The polynomials of degrees `n`, from those of degrees 0 and 1; `step` leads to degree `k`."""
    end = jnp.max(jnp.where(n <= HIGHEST, n, 0), initial=0)
    first, second, none = equally_varying([first, second, jnp.zeros_like(second)])
    start = (jnp.asarray(2.0, n.dtype), first, second, none)

    def body(state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        k, first, second, exponent = state
        here = k <= n
        large = (jnp.abs(second) > _HUGE) | (jnp.abs(first) > _HUGE)
        scale = jnp.where(large, 2.0**-_EXPONENT, 1)
        new = step(k, first * scale, second * scale)
        exponent = jnp.where(large & here, exponent + _EXPONENT, exponent)
        return k + 1, jnp.where(here, new[0], first), jnp.where(here, new[1], second), exponent

    _, _, out, exponent = lax.while_loop(lambda state: state[0] <= end, body, start)
    # The result is made of two factors, neither of which is infinite before the product is.
    half = jnp.where(exponent <= 2 * _EXPONENT, 2.0**_EXPONENT, jnp.inf)
    half = jnp.where(exponent == _EXPONENT, 2.0 ** (_EXPONENT / 2), half)
    out = jnp.where((exponent == 0) | (out == 0), out, out * half * half)
    out = jnp.where(n <= 0, 1, out)
    return jnp.where(n <= HIGHEST, out, jnp.nan)
