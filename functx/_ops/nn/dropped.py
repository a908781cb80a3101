"""Dropout inside larger operators."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import peek


def may_drop(p: Any) -> bool:
    """Whether anything is drawn, which is not so where `p` is known to be 0."""
    known = peek(p)
    return known is None or bool((known > 0).any())


def dropped(x: Array, p: Any, key: Array) -> Array:
    """`x` with each element zeroed with probability `p`, and the others scaled up."""
    drawn = jax.random.uniform(key, x.shape, "float32")
    kept = jnp.where(p == 1, 1, 1 - p)
    return x * jnp.where(drawn < p, 0, 1 / kept).astype(x.dtype)
