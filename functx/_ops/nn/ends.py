"""The search for the stretch that holds a place, among stretches that follow one another."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import known


def ended(ends: Array, places: Array) -> Array:
    """How many stretches end at or before each place; `ends: [n]` do not decrease.

    JAX bisects only arrays of known length. If the number of ends is symbolic, all of them are
    compared.
    """
    if known(ends.shape[0]):
        return jnp.searchsorted(ends, places, side="right")
    return jnp.sum(ends <= places[..., None], -1, dtype="int32")
