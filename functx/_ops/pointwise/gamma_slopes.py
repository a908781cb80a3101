"""The logarithm of the gamma function, and digamma, with derivatives that are right everywhere."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core.rules.custom_derivatives import derivative_rules

from .digamma import digamma
from .log_gamma import log_gamma
from .trigamma import trigamma_above_zero


def _trigamma(x: Array) -> Array:
    # lax.polygamma is wrong below zero; reflection is right, and JAX can differentiate it further.
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
    jvp=lambda primals, output, tangents: tangents[0] * _trigamma(primals[0]),
    name="digamma",
)

log_gamma_function = derivative_rules(
    log_gamma,
    jvp=lambda primals, output, tangents: tangents[0] * digamma_function(primals[0]),
    name="lgamma",
)
