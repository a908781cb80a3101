"""Exponentials that sum to 1, and their logarithms."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax


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
