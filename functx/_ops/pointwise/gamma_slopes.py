"""The logarithm of the gamma function, digamma and trigamma, with derivatives right everywhere."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core.rules.custom_derivatives import derivative_rules

from .digamma import digamma
from .log_gamma import log_gamma


# Bernoulli numbers $B_2, B_4, \dots$. The numbers of terms, and of steps of the recurrence, are
# those that the value and its derivatives need.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_STEPS = {"float32": 6, "float64": 12}


def trigamma_above_zero(x: Array) -> Array:
    r"""$\psi'(x) = \sum_{k \ge 0} (x + k)^{-2}$ for $x > 0$, where `lax.polygamma` sums in a loop.

    >>> trigamma_above_zero(jnp.asarray([1.0], "float32"))
    Array([1.644934], dtype=float32)
    """
    steps = _STEPS[x.dtype.name]
    total = jnp.zeros_like(x)
    for k in reversed(range(steps)):
        inverse = 1 / (x + np.asarray(k, x.dtype))
        total += inverse * inverse
    inverse = 1 / (x + np.asarray(steps, x.dtype))
    square = inverse * inverse
    series = jnp.zeros_like(x)
    for bernoulli in reversed(_BERNOULLI):
        series = series * square + np.asarray(bernoulli, x.dtype)
    return total + (inverse + square * (np.asarray(0.5, x.dtype) + inverse * series))


def trigamma(x: Array) -> Array:
    r"""$\psi'(x)$, infinite at 0 and at negative integers, and NaN at minus infinity.

    `lax.polygamma` is wrong below zero; reflection is right, and JAX can differentiate it further.

    >>> trigamma(jnp.asarray([-0.5], "float32")).round(3)
    Array([8.935], dtype=float32)
    """
    below = x < 0.5
    infinite = jnp.isinf(x)
    right = jnp.where(infinite, 1, jnp.where(below, 1 - x, x))
    near = x - lax.stop_gradient(jnp.round(x))  # the sine of a large number has few digits
    sine = jnp.sin(jnp.pi * jnp.where(below, near, 0.5))
    summed = trigamma_above_zero(right)
    mirrored = (jnp.pi / sine) ** 2 - summed
    out = jnp.where(below, mirrored, summed)
    return jnp.where(infinite, jnp.where(x > 0, 0, jnp.nan), out)


digamma_function = derivative_rules(
    digamma,
    jvp=lambda primals, output, tangents: tangents[0] * trigamma(primals[0]),
    name="digamma",
)

log_gamma_function = derivative_rules(
    log_gamma,
    jvp=lambda primals, output, tangents: tangents[0] * digamma_function(primals[0]),
    name="lgamma",
)
