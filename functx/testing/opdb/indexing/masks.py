"""Masks of which it is known how much they pick."""

from __future__ import annotations

import jax
import numpy as np

from functx.testing.make import Make


def some(make: Make, count: int, *shape: int) -> jax.Array:
    """A mask with `count` True."""
    order = make.rng.permutation(int(np.prod(shape))).reshape(shape)
    return make.put(order < count, bool)
