r"""Chebyshev polynomials of all degrees at once, for float64 arrays.

High degrees go by powers of $e^{i\theta}$, where $\cos\theta$ is $|x|$, degrees up to 8 by
recurrence. The functions take degrees `n`, $|x|$ as `size`, and $1 - |x|$ as `less`, which is exact
where it is small. Errors are no more than those that a change of the last digits of $|x|$ and of
$1 - |x|$ makes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax.numpy as jnp
from jax import Array


ChebyshevForm = Callable[[Array, Array, Array], Array]

_RECURRENT = 8  # degrees up to it are computed by recurrence
_FAR = 2.0**520  # its square is infinite
_ROOTED = 2.0**500  # its square is finite, but its power of any high degree is infinite
_ENDLESS = 1000.0  # $e$ to this power is infinite


def first_kind(n: Array, size: Array, less: Array) -> Array:
    r"""Chebyshev polynomials of the first kind, $T_n = \cos n\theta$."""
    cosine, _ = _turned(n, size, less)
    power = _power(n, size, less)
    out = jnp.where(less > 0, cosine, 0.5 * power + 0.5 / power)
    return _completed(out, n, size, less, (0, 1), jnp.ones_like(n))


def second_kind(n: Array, size: Array, less: Array) -> Array:
    r"""Chebyshev polynomials of the second kind, $U_n = \sin((n + 1)\theta) / \sin\theta$."""
    _, sine = _turned(n + 1, size, less)
    root, base, rate = _hyperbolic(size, less)
    power = _power(n, size, less)
    far = power * (base / (2 * root)) - 1 / (power * base * (2 * root))
    outside = jnp.where((n + 1) * rate < 1, jnp.sinh((n + 1) * rate) / root, far)
    out = jnp.where(less > 0, sine / root, outside)
    return _completed(out, n, size, less, (1, 2), n + 1)


def third_kind(n: Array, size: Array, less: Array) -> Array:
    r"""Polynomials of the third kind, $V_n = \cos((n + \tfrac12)\theta) / \cos\tfrac\theta2$."""
    cosine, sine = _halves(size, less)
    power, base = _power(n, size, less), cosine + sine
    outside = power * (base / (2 * cosine)) + 1 / (power * base * (2 * cosine))
    turned, _ = _half_turned(n, size, less)
    out = jnp.where(less > 0, turned / cosine, outside)
    return _completed(out, n, size, less, (0, 2), jnp.ones_like(n))


def fourth_kind(n: Array, size: Array, less: Array) -> Array:
    r"""Polynomials of the fourth kind, $W_n = \sin((n + \tfrac12)\theta) / \sin\tfrac\theta2$."""
    cosine, sine = _halves(size, less)
    power, base = _power(n, size, less), cosine + sine
    far = power * (base / (2 * sine)) - 1 / (power * base * (2 * sine))
    _, _, rate = _hyperbolic(size, less)
    steps = (n + 0.5) * rate
    outside = jnp.where(steps < 1, jnp.sinh(steps) / sine, far)
    _, turned = _half_turned(n, size, less)
    out = jnp.where(less > 0, turned / sine, outside)
    return _completed(out, n, size, less, (2, 2), 2 * n + 1)


def _completed(
    out: Array, n: Array, size: Array, less: Array, change: tuple[int, int], at_one: Array
) -> Array:
    """`out` for high degrees, the recurrence for low degrees, and `at_one` at 1.

    `change` is the change from degree 0 to degree 1, at 1 and by the distance from 1. Near 1 the
    recurrence adds such changes up, which keeps the digits of the distance.
    """
    rise, slope = change
    near, apart = jnp.abs(less) < 0.5, jnp.clip(less, -1, 1)
    added, twice = rise - slope * apart, 2 * jnp.minimum(size, _FAR)
    before, last = jnp.ones_like(size), slope * size + (1 + rise - slope)
    last = jnp.where(near, 1 + added, last)
    for k in range(2, _RECURRENT + 1):
        added = added - 2 * apart * last
        new = jnp.where(near, last + added, twice * last - before)
        new = jnp.where(last == jnp.inf, last, new)
        before, last = last, jnp.where(k <= n, new, last)
    out = jnp.where(size == size, out, jnp.nan)
    low = jnp.where(n <= 0, 1, last)
    return jnp.where(less == 0, at_one, jnp.where(n <= _RECURRENT, low, out))


def _turned(n: Array, size: Array, less: Array) -> tuple[Array, Array]:
    r"""Cosine and sine of $n\theta$ for $|x| < 1$, by the smaller of $\theta$, $\pi/2 - \theta$."""
    low, angle = _angle(size, less)
    cosine, sine = jnp.cos(n * angle), jnp.sin(n * angle)
    odd = jnp.mod(n, 2) == 1
    sign = jnp.where(jnp.mod(n, 4) >= 2, -1.0, 1.0)
    turned = sign * jnp.where(odd, sine, cosine), sign * jnp.where(odd, cosine, -sine)
    return jnp.where(low, turned[0], cosine), jnp.where(low, turned[1], sine)


def _half_turned(n: Array, size: Array, less: Array) -> tuple[Array, Array]:
    r"""Cosine and sine of $(n + \tfrac12)\theta$ for $|x| < 1$."""
    low, angle = _angle(size, less)
    cosine, sine = jnp.cos((n + 0.5) * angle), jnp.sin((n + 0.5) * angle)
    quarters = jnp.mod(n, 4)  # each of them adds half a right angle
    even = jnp.where((quarters == 1) | (quarters == 2), -math.sqrt(0.5), math.sqrt(0.5))
    odd = jnp.where(quarters >= 2, -math.sqrt(0.5), math.sqrt(0.5))
    turned = even * cosine + odd * sine, odd * cosine - even * sine
    return jnp.where(low, turned[0], cosine), jnp.where(low, turned[1], sine)


def _angle(size: Array, less: Array) -> tuple[Array, Array]:
    r"""Whether $\theta$ exceeds $\pi / 4$, and $\pi / 2 - \theta$ if it does, else $\theta$."""
    inside = less > 0
    size = jnp.where(inside, size, 0.5)
    root = jnp.sqrt(jnp.where(inside, less, 0.5) * (1 + size))
    low = size <= math.sqrt(0.5)
    return low, jnp.where(low, jnp.atan2(size, root), jnp.atan2(root, size))


def _hyperbolic(size: Array, less: Array) -> tuple[Array, Array, Array]:
    r"""$\sqrt{|1 - x^2|}$, and where $|x| > 1$ the number $w = e^{|\theta|}$ and its logarithm."""
    size, beyond = jnp.minimum(size, _ROOTED), jnp.minimum(-less, _ROOTED)
    root = jnp.sqrt(jnp.where(less == 0, 1, jnp.abs(beyond)) * (1 + size))
    return root, size + root, jnp.log1p(jnp.where(less < 0, beyond + root, 1))


def _power(n: Array, size: Array, less: Array) -> Array:
    """$w^n$ where $|x| > 1$, by $w$ or its logarithm, whichever loses fewer digits."""
    _, base, rate = _hyperbolic(size, less)
    base = jnp.where(less < 0, base, 2)
    # $w + 1 / w$ is $2 |x|$, which shows what $w$ lost by rounding.
    lost = (2 * jnp.minimum(size, _ROOTED) - base) - 1 / base
    whole = base**n * jnp.exp(jnp.minimum(n, _ENDLESS) * (lost / (base - 1 / base)))
    return jnp.where(rate < 1, jnp.exp(n * rate), whole)


def _halves(size: Array, less: Array) -> tuple[Array, Array]:
    r"""Cosine and sine of $\tfrac\theta2$; absolute values where $|x| > 1$."""
    apart = jnp.minimum(jnp.abs(less), _FAR)
    sine = jnp.sqrt(0.5 * jnp.where(less == 0, 1, apart))
    return jnp.sqrt(0.5 + 0.5 * jnp.minimum(size, _FAR)), sine
