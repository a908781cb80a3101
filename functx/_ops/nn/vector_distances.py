"""The distance of two vectors, element by element of what their arrays hold."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._ops.reductions.power_norms import vector_norm


def distance(x1: Array, x2: Array, p: float, eps: Any) -> Array:
    """$|x_1 - x_2 + \\epsilon|_p$ along the last dimension, which numbers have one of."""
    difference = x1 - x2
    difference = jnp.atleast_1d(difference + jnp.asarray(eps).astype(difference.dtype))
    return vector_norm(difference, p, (difference.ndim - 1,))
