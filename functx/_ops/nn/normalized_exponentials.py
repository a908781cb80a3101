"""Exponentials that sum to 1, and the logarithms of these."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.exponential_sums import log_shares, shares


# Makes a product that becomes an exponent a rounded number. Where compilers subtract the maximum
# from a product, they do not round the product, but they do in the maximum, which then differs.
# They do not see through a choice.
rounded_product = derivative_rules(
    lambda x: jnp.where(x == x, x, jnp.nan),
    jvp=lambda primals, output, tangents: tangents[0],
    name="rounded_product",
)


def probabilities(x: Array, dim: int) -> Array:
    """`exp x / sum exp x` along `dim`. Where all of `x` is -inf, the result is NaN, with
    derivatives of 0.
    """
    return _unless_nothing(*shares(x, dim))


def log_probabilities(x: Array, dim: int) -> Array:
    """`x - log sum exp x` along `dim`. Where all of `x` is -inf, the result is NaN, with
    derivatives of 0.
    """
    return _unless_nothing(*log_shares(x, dim))


def probabilities_or_zeros(scores: Array) -> Array:
    """The probabilities along the last dimension, which are zeros in a row that is all -inf."""
    return shares(scores, -1)[0]


def _unless_nothing(out: Array, some: Array) -> Array:
    return out + jnp.where(some == 0, jnp.nan, 0).astype(out.dtype)
