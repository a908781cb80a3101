"""Cosines and sines of phases that are known to more digits than float64 has, right near zeros.

On CPUs those of small angles are polynomials: XLA calls the C library for each element.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._ops.polynomials import horner
from functx._ops.roundoff import exact_product, exact_sum

from .rare_elements import with_rare_elements


# $\pi / 4$ in parts: multiples below $2^{28}$ of all parts but the last are exact.
_QUARTER = (0.7853981256484985, 3.774894707930798e-08, 2.6951514290790595e-15)
_FAR = 2.0**27  # from here on cosine and sine reduce the phase
# Taylor's series by powers of the square: to 0.83, of more than the greatest angle, 1e-17 are left.
_SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(1, 9)]
_COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(1, 10)]


def polar(
    x: Array, odd: int, first: tuple[float, float], series: Array, error: Array | None = None
) -> tuple[Array, Array]:
    r"""Cosine and sine of $z - k \pi / 4 + c / z + t / z^3$ for $z = x + e > 1$; `odd` is $k$.

    `first` is $c$ in two parts, `series` is $t$, and the `error` $e$ is less than an ulp of `x`.
    """
    inverse = 1 / x
    shift = first[0] * inverse
    whole, part = exact_product(shift, x)
    rest = (first[0] - whole) - part + first[1]
    rest = rest if error is None else rest - shift * error
    return _shifted(x, odd, shift, rest * inverse + series * (inverse * inverse * inverse), error)


def _shifted(
    x: Array, odd: int, shift: Array, rest: Array, error: Array | None = None
) -> tuple[Array, Array]:
    r"""Cosine and sine of $x + e - k \pi / 4 + s + r$ for $x > 1$; `odd` is $k$, 1 or 3.

    The `error` $e$ is less than an ulp of `x`. The `shift` $s$ is at most a quarter, and less than
    1e-8 far out; the `rest` $r$ is smaller than it.
    """
    near = jnp.minimum(x, _FAR)
    turns = jnp.round((near - odd * math.pi / 4) * (2 / math.pi))
    quarters = 2 * turns + odd
    high, low = exact_sum(near - quarters * _QUARTER[0], -quarters * _QUARTER[1])
    for part in (-quarters * _QUARTER[2], shift):
        high, more = exact_sum(high, part)
        low = low + more
    low = low + rest if error is None else low + rest + error
    high, low = exact_sum(high, low)
    far = x >= _FAR
    without = lambda angle, x: _by_series(angle)
    cosine, sine = with_rare_elements(_has_far, _by_library, without)(high, x)
    if error is None:
        left = jnp.where(far, shift, low)
        pair = cosine - left * sine, sine + left * cosine
    else:
        left = jnp.where(far, error + shift, low)
        c, s = jnp.cos(left), jnp.sin(left)
        pair = c * cosine - s * sine, c * sine + s * cosine
    turns = jnp.where(far, (1 - odd) // 2, turns.astype(np.int64))
    return _quarter_turns(*pair, turns)


def _by_series(angle: Array) -> tuple[Array, Array]:
    square = angle * angle
    return 1 + square * horner(_COSINE, square), angle + angle * square * horner(_SINE, square)


def _by_library(angle: Array, x: Array) -> tuple[Array, Array]:
    far = x >= _FAR
    angle = jnp.where(far, x, angle)
    return _without_eighth(jnp.cos(angle), jnp.sin(angle), x, far)


def _has_far(angle: Array, x: Array) -> Array:
    # Positive numbers are in the order of their bits, and NaN is above all of them.
    bits = jnp.max(lax.bitcast_convert_type(x, np.int64), initial=0)
    return bits >= np.float64(_FAR).view(np.int64)


def _without_eighth(cosine: Array, sine: Array, x: Array, far: Array) -> tuple[Array, Array]:
    r"""Cosine and sine of $x - \pi / 4$ for `far` $x$, exact by $\cos 2x = c^2 - s^2$."""
    plus, minus = cosine + sine, sine - cosine
    doubled = jnp.where(x < 8e307, jnp.cos(2 * jnp.clip(x, _FAR, 8e307)), -plus * minus)
    opposite = cosine * sine < 0
    plus, minus = (
        jnp.where(opposite, -doubled / minus, plus),
        jnp.where(opposite, minus, -doubled / plus),
    )
    root = math.sqrt(0.5)
    return jnp.where(far, root * plus, cosine), jnp.where(far, root * minus, sine)


def _quarter_turns(cosine: Array, sine: Array, turns: Array) -> tuple[Array, Array]:
    odd, half = (turns & 1) == 1, (turns & 2) == 2
    first, second = jnp.where(odd, -sine, cosine), jnp.where(odd, cosine, sine)
    return jnp.where(half, -first, first), jnp.where(half, -second, second)
