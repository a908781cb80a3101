"""What counts as true."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array


def nonzero(input: Array) -> Array:
    """Which elements are true in the sense of Python."""
    return input != jnp.zeros((), input.dtype)
