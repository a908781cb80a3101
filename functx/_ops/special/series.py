"""Polynomials, quotients of polynomials, and sums of Chebyshev polynomials."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array

from functx._ops.polynomials import horner


def polynomial(coefficients: Sequence[float], x: Array) -> Array:
    r"""$\sum_k c_k x^{n - k}$ of $n + 1$ coefficients; that of the highest power comes first."""
    return horner(coefficients[::-1], x)


def ratio(numerator: Sequence[float], denominator: Sequence[float], x: Array) -> Array:
    """A quotient of polynomials; coefficients of the highest powers come first."""
    return polynomial(numerator, x) / polynomial(denominator, x)


def chebyshev(coefficients: Sequence[float], x: Array) -> Array:
    r"""$\tfrac12 c_n + \sum_{k < n} c_k T_{n - k}(x)$ for $x$ from -1 to 1, by Clenshaw."""
    twice = x + x
    before, last = jnp.zeros_like(x), jnp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:-1]:
        before, last = last, twice * last - before + coefficient
    return x * last - before + 0.5 * coefficients[-1]
