"""Which of several stretches, one after the other, holds a place."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import known


def ended(ends: Array, places: Array) -> Array:
    """How many stretches end at or before each place; `ends: [n]` do not decrease.

    JAX bisects only what it knows the length of: ends of a symbolic number are all compared.
    """
    if known(ends.shape[0]):
        return jnp.searchsorted(ends, places, side="right")
    return jnp.sum(ends <= places[..., None], -1, dtype="int32")
