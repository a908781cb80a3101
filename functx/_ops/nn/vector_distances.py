"""The distance of the vectors in two arrays."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._ops.reductions.power_norms import vector_norm


def distance(x1: Array, x2: Array, p: float, eps: Any) -> Array:
    r"""$|x_1 - x_2 + \epsilon|_p$ along the last dimension; a number counts as a vector of one
    element.
    """
    difference = x1 - x2
    difference = jnp.atleast_1d(difference + jnp.asarray(eps).astype(difference.dtype))
    return vector_norm(difference, p, (difference.ndim - 1,))
