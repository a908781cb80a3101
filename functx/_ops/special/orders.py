"""Functions of one variable whose derivatives of all orders are known."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Mapping, Sequence

import jax.numpy as jnp
from jax import Array

from functx._core.rules.custom_derivatives import derivative_rules

from .wide import widened


def differentiable(name: str, derivative: Callable[[int, Array], Array]) -> Callable[..., Array]:
    """The function whose `k`-th derivative at a float64 array `x` is `derivative(k, x)`.

    Each order is computed by itself, in double precision, and rounded once, so no order has the
    errors of the one below it.
    """

    @ft.cache
    def of_order(k: int) -> Callable[..., Array]:
        return derivative_rules(
            widened(ft.partial(derivative, k)),
            jvp=lambda primals, output, tangents: tangents[0] * of_order(k + 1)(primals[0]),
            name=name,
        )

    return of_order(0)


def combination(weights: Mapping[int, float], values: Sequence[Array]) -> Array:
    """The sum of `values`, each times its weight; values without a weight are left out."""
    terms = [weight * values[m] for m, weight in weights.items() if weight]
    return sum(terms, jnp.zeros_like(values[-1]))
