"""Exponentials that sum to 1, and their logarithms."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core.rules import derivative_rules
from functx._ops.exponential_sums import log_shares, shares


# Products that become exponents: compilers round no product that they subtract from at once, but
# do for the maximum, which is then another number. Through a choice they do not see.
rounded_product = derivative_rules(
    lambda x: jnp.where(x == x, x, jnp.nan),
    jvp=lambda primals, output, tangents: tangents[0],
    name="rounded_product",
)


def probabilities(x: Array, dim: int) -> Array:
    """`exp x / sum exp x` along `dim`. Of nothing but -inf it is NaN, with derivatives of 0."""
    return _unless_nothing(*shares(x, dim))


def log_probabilities(x: Array, dim: int) -> Array:
    """`x - log sum exp x` along `dim`. Of nothing but -inf it is NaN, with derivatives of 0."""
    return _unless_nothing(*log_shares(x, dim))


def probabilities_or_zeros(scores: Array) -> Array:
    """Those along the last dimension. Rows of nothing but -inf give zeros."""
    return shares(scores, -1)[0]


def _unless_nothing(out: Array, some: Array) -> Array:
    return out + jnp.where(some == 0, jnp.nan, 0).astype(out.dtype)
