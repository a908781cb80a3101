"""Exponentials that sum to 1, and their logarithms."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core.rules import derivative_rules


# Products that become exponents: compilers round no product that they subtract from at once, but
# do for the maximum, which is then another number. Through a choice they do not see.
rounded_product = derivative_rules(
    lambda x: jnp.where(x == x, x, jnp.nan),
    jvp=lambda primals, output, tangents: tangents[0],
    name="rounded_product",
)


def _shifted(x: Array, dim: int) -> Array:
    """`x` less its maximum: the result does not depend on the shift, nor does its derivative."""
    top = jnp.max(x.real, axis=dim, keepdims=True)
    return x - lax.stop_gradient(top).astype(x.dtype)


def probabilities(x: Array, dim: int) -> Array:
    """`exp x / sum exp x` along `dim`."""
    exponentials = jnp.exp(_shifted(x, dim))
    return exponentials / jnp.sum(exponentials, axis=dim, keepdims=True)


def log_probabilities(x: Array, dim: int) -> Array:
    """`x - log sum exp x` along `dim`."""
    shifted = _shifted(x, dim)
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=dim, keepdims=True))


def probabilities_or_zeros(scores: Array) -> Array:
    """Those along the last dimension. Rows of nothing but -inf give zeros."""
    greatest = jnp.max(lax.stop_gradient(scores), -1, keepdims=True, initial=-jnp.inf)
    shift = jnp.where(greatest == -jnp.inf, 0, greatest)  # any shift gives the same
    powers = jnp.exp(scores - shift)
    total = jnp.sum(powers, -1, keepdims=True)
    return powers / jnp.where(total == 0, 1, total)
