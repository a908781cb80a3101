"""Orthogonal polynomials with all their derivatives, as functions with derivative rules."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable

import jax.numpy as jnp
from jax import Array

from functx._core.rules.custom_derivatives import derivative_rules

from .chebyshev_forms import ChebyshevForm, first_kind, fourth_kind, second_kind, third_kind
from .recurrences import hermite, jacobi, laguerre
from .wide import widened


PolynomialOfDegree = Callable[[Array, Array], Array]

# For Jacobi's polynomials on [-1, 1]: the parameters, the values at 1, whether they are `2 n + 1`,
# `n + 1` or 1, and the functions that compute all degrees at $x$ and at $-x$.
_CHEBYSHEV: dict[str, tuple[ChebyshevForm, ChebyshevForm]] = {
    "t": (first_kind, first_kind),
    "u": (second_kind, second_kind),
    "v": (third_kind, fourth_kind),
    "w": (fourth_kind, third_kind),
}
_PARAMETERS = {
    "t": (-0.5, -0.5),
    "u": (0.5, 0.5),
    "v": (-0.5, 0.5),
    "w": (0.5, -0.5),
    "p": (0.0, 0.0),
}


@ft.lru_cache
def jacobi_polynomial(
    kind: str, name: str, *, shifted: bool = False, order: int = 0
) -> PolynomialOfDegree:
    """Chebyshev's (t, u, v, w) or Legendre's (p) polynomial, or its derivative of `order`."""

    def forward(x: Array, n: Array) -> Array:
        n = jnp.trunc(n)
        degree = n - order
        if shifted:  # $2 x - 1$
            flipped = x < 0.5
            size, less = jnp.abs(2 * x - 1), jnp.where(flipped, 2 * x, 2 - 2 * x)
        else:
            flipped = jnp.signbit(x)
            size = jnp.abs(x)
            less = 1 - size
        sign = jnp.where(flipped & (jnp.mod(degree, 2) == 1), -1.0, 1.0)
        if order == 0 and kind in _CHEBYSHEV:
            here, there = _CHEBYSHEV[kind]
            out = here(n, size, less)
            if here is not there:
                out = jnp.where(flipped, there(n, size, less), out)
        else:
            out = _derivative(kind, order, flipped, n, size, less)
        out = jnp.where(n < order, 0, sign * 2.0 ** (order * shifted) * out)
        return jnp.where(n < 0, 0, jnp.where(n < jnp.inf, out, jnp.nan))

    return _ruled(
        forward, ft.partial(jacobi_polynomial, kind, name, shifted=shifted, order=order + 1), name
    )


def _derivative(kind: str, order: int, flipped: Array, n: Array, size: Array, less: Array) -> Array:
    """The derivative for $x > 0$: a polynomial of larger parameters and lower degree, scaled."""
    alpha, beta = _PARAMETERS[kind]
    first = jnp.where(flipped, beta, alpha)
    second = jnp.where(flipped, alpha, beta)
    # These are the values at 1.
    scale = jnp.where(first > 0, jnp.where(second > 0, n + 1, 2 * n + 1), jnp.ones_like(n))
    for j in range(order):
        scale = scale * ((n - j) * (n + (alpha + beta + 1 + j)) / (2 * (first + 1 + j)))
    polynomial = jacobi(first + order, second + order, n - order, size, less)
    return jnp.where(scale == 0, 0, scale * polynomial)


@ft.lru_cache
def laguerre_polynomial(name: str, order: int = 0) -> PolynomialOfDegree:
    """Laguerre's polynomial, or its derivative of `order`."""

    def forward(x: Array, n: Array) -> Array:
        n = jnp.trunc(n)
        scale = jnp.ones_like(x)
        for j in range(order):
            scale = scale * ((j - n) / (j + 1))
        out = scale * laguerre(float(order), n - order, x)
        return jnp.where(n < order, 0, out)

    return _ruled(forward, ft.partial(laguerre_polynomial, name, order + 1), name)


@ft.lru_cache
def hermite_polynomial(scale: float, name: str, order: int = 0) -> PolynomialOfDegree:
    """Physicists' Hermite polynomial for `scale` 2, probabilists' for 1, or its derivative."""

    def forward(x: Array, n: Array) -> Array:
        n = jnp.trunc(n)
        factor = jnp.full_like(x, scale**order)
        for j in range(order):
            factor = factor * (n - j)
        return jnp.where(n < order, 0, factor * hermite(scale, n - order, x))

    return _ruled(forward, ft.partial(hermite_polynomial, scale, name, order + 1), name)


def _ruled(
    forward: PolynomialOfDegree, derivative: Callable[[], PolynomialOfDegree], name: str
) -> PolynomialOfDegree:
    """`forward` of $x$ and of the degree, with a derivative in $x$ and none in the degree."""
    return derivative_rules(
        widened(forward),
        jvp=lambda primals, output, tangents: tangents[0] * derivative()(*primals),
        name=name,
    )
