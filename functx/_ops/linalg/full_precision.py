"""Products of matrices in the precision of their dtype, on accelerators too."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax


def product(first: Array, *others: Array) -> Array:
    """The product of matrices, from left to right."""
    for other in others:
        first = jnp.matmul(first, other, precision=lax.Precision.HIGHEST)
    return first
