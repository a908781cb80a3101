"""Spherical Bessel functions of the first kind, $j_n$, of float64 arrays."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array, lax

from functx._ops.polynomials import horner

from .orders import combination


def spherical_first_kind(k: int, x: Array) -> Array:
    """The `k`-th derivative of $j_0$."""
    size = jnp.abs(x)
    inner = jnp.where(size == jnp.inf, 1, jnp.maximum(size, 1e-300))
    sine, cosine = jnp.sin(inner), jnp.cos(inner)
    values = [sine / inner]
    for m in range(1, k + 1):
        above = values[-1] / inner - cosine / inner
        if m > 1:
            above = ((2 * m - 1) / inner) * values[-1] - values[-2]
        values.append(jnp.where(size < m, _series(m, jnp.minimum(size, m)), above))
    out = combination(_weights(k), values)
    out = out if k % 2 == 0 else out * jnp.copysign(1, x)
    return jnp.where(size == jnp.inf, 0, out)


def _weights(k: int) -> dict[int, float]:
    """Weights of $j_m$ in the derivative, by $(2n + 1) j_n' = n j_{n-1} - (n + 1) j_{n+1}$."""
    weights = {0: 1.0}
    for _ in range(k):
        below: dict[int, float] = {}
        for m, weight in weights.items():
            if m:
                below[m - 1] = below.get(m - 1, 0) + weight * m / (2 * m + 1)
            below[m + 1] = below.get(m + 1, 0) - weight * (m + 1) / (2 * m + 1)
        weights = below
    return weights


def _series(n: int, x: Array) -> Array:
    r"""$j_n$ where $0 \le x < n$, by its power series."""
    terms = [1 / math.prod(range(1, 2 * n + 2, 2))]
    for j in range(1, n + 12):
        terms.append(-terms[-1] / (2 * j * (2 * n + 2 * j + 1)))
    return lax.integer_pow(x, n) * horner(terms, x * x)
