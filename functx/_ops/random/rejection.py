"""Poisson and binomial numbers: by inversion where few are likely, otherwise by rejection.

Source: W. Hörmann, "The transformed rejection method for generating Poisson random variables",
1993, and "The generation of binomial random variates", 1993. Probabilities are computed as in C.
Loader, "Fast and accurate computation of binomial probabilities", 2000, where large numbers do not
cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from .draws import inside_unit_interval


Propose = Callable[[Array, Array], tuple[Array, Array]]

_FEW = 10.0  # smaller means are inverted, as the constants of the rejection method ask


def poisson_numbers(key: Array, rate: Array) -> Array:
    """Poisson numbers of rates that are not negative; NaN and infinity give themselves."""
    few = rate < _FEW
    many = (rate >= _FEW) & (rate < jnp.inf)
    mean = jnp.where(few, rate, 0)
    term = lambda k, chance: chance * mean / k
    some = _inverted(key, jnp.exp(-mean), term)

    mean = jnp.where(many, rate, _FEW)
    b = 0.931 + 2.53 * jnp.sqrt(mean)
    a = 0.02483 * b - 0.059
    scale = 1.1239 + 1.1328 / (b - 3.4)

    def propose(u: Array, v: Array) -> tuple[Array, Array]:
        edge = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / edge + b) * u + mean + 0.43)
        inside = (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        at = jnp.maximum(k, 0)
        chance = -_stirling(at) - _deviance(at, mean, at - mean)
        below = jnp.log(v * scale / (a / (edge * edge) + b)) <= chance
        return k, inside | ((k >= 0) & below)

    found = jnp.where(many, _first_accepted(key, many, mean.dtype, propose), some)
    return jnp.where(few | many, found, rate)


def binomial_numbers(key: Array, count: Array, chance: Array) -> Array:
    """The number of successes in `count` trials, for arrays of one shape; NaN where either is."""
    n = jnp.floor(jnp.maximum(count, 0))
    likely = chance > 0.5
    p = jnp.clip(jnp.where(likely, 1 - chance, chance), 0, 0.5)
    finite = n < jnp.inf
    few = finite & (n * p < _FEW)
    many = finite & (n * p >= _FEW)
    size, odds = jnp.where(few, n, 0), p / (1 - p)
    term = lambda k, before: before * jnp.maximum(size - k + 1, 0) / k * odds
    some = _inverted(key, jnp.exp(size * jnp.log1p(-p)), term)

    size, p_many = jnp.where(many, n, 4 * _FEW), jnp.where(many, p, 0.5)
    mean = size * p_many
    spread = jnp.sqrt(mean * (1 - p_many))
    b = 1.15 + 2.53 * spread
    a = 0.0248 * b + 0.01 * p_many - 0.0873
    alpha = (2.83 + 5.1 / b) * spread
    mode = jnp.floor((size + 1) * p_many)

    def log_chance(k: Array) -> Array:
        rest, off = size - k, k - mean
        balance = _deviance(k, mean, off) + _deviance(rest, size - mean, -off)
        return -_stirling(k) - _stirling(rest) - balance

    def propose(u: Array, v: Array) -> tuple[Array, Array]:
        edge = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / edge + b) * u + mean + 0.5)
        inside = (edge >= 0.07) & (v <= 0.92 - 4.2 / b)
        at = jnp.clip(k, 0, size)
        ratio = log_chance(at) - log_chance(mode)
        below = jnp.log(v * alpha / (a / (edge * edge) + b)) <= ratio
        return at, (k == at) & (inside | below)

    drawn = jnp.where(many, _first_accepted(key, many, mean.dtype, propose), some)
    drawn = jnp.where(finite, drawn, jnp.where(p > 0, jnp.inf, 0))
    out = jnp.where(likely, jnp.where(finite, n - drawn, jnp.inf), drawn)
    return jnp.where(jnp.isnan(count) | jnp.isnan(chance), jnp.nan, out)


def _inverted(key: Array, none: Array, term: Callable[[Array, Array], Array]) -> Array:
    """The least k whose cumulative chance exceeds a uniform number; `none` is the chance of 0.

    `term(k, chance of k - 1)` is the chance of k.
    """
    uniform = inside_unit_interval(key, none.shape, none.dtype)

    def going(state: tuple[Array, ...]) -> Array:
        _, _, left, _ = state
        return (left > 0).any()

    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        k, chance, left, found = state
        found = jnp.where(left > 0, k, found)
        chance = term(k, chance)
        # Rounded sums may end below the number; a chance too small to be added ends the loop.
        ended = chance < jnp.finfo(none.dtype).tiny
        return k + 1, chance, jnp.where(ended, 0, left - chance), found

    one = jnp.ones((), none.dtype)
    start = (one, none, uniform - none, jnp.zeros_like(none))
    return lax.while_loop(going, step, start)[3]


def _first_accepted(key: Array, wanted: Array, dtype: np.dtype, propose: Propose) -> Array:
    """The first accepted proposal for each element; the others cost no further round."""

    def going(state: tuple[Array, Array, Array]) -> Array:
        return state[1].any()

    def again(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        key, missing, found = state
        key, first, second = jax.random.split(key, 3)
        u = inside_unit_interval(first, wanted.shape, dtype) - 0.5
        k, accepted = propose(u, inside_unit_interval(second, wanted.shape, dtype))
        return key, missing & ~accepted, jnp.where(missing & accepted, k, found)

    start = (key, wanted, jnp.zeros(wanted.shape, dtype))
    return lax.while_loop(going, again, start)[2]


def _stirling(x: Array) -> Array:
    r"""$\log(x!) - x \log x + x$."""
    at = jnp.maximum(x, 1)
    inverse = 1 / at
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    return jnp.where(x > 0, 0.5 * jnp.log(2 * math.pi * at) + series, 0)


def _deviance(x: Array, mean: Array, off: Array) -> Array:
    r"""$x \log(x / m) + m - x$ for $x \ge 0$, with `off` the difference $x - m$."""
    v = off / (x + mean)
    near = jnp.abs(v) < 0.1
    square = jnp.where(near, v * v, 0)
    series = jnp.zeros_like(v)
    for j in range(8, 0, -1):
        series = square * (1 / (2 * j + 1) + series)
    ratio = jnp.where(near | (x == 0), 1, x / mean)
    return jnp.where(near, off * v + 2 * x * v * series, x * jnp.log(ratio) - off)
