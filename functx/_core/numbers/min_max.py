"""The least and the greatest of integers."""

from __future__ import annotations

import jax
import numpy as np
from jax import lax


def min_max(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The least and the greatest of integers, each 0-d, in one pass over them.

    XLA makes one loop of a reduction to two results. One to a single result it first cuts into
    windows on CPUs, for which what is reduced is written to memory: four times slower.
    """
    limits = np.iinfo(x.dtype)
    ends = [np.asarray(end, x.dtype) for end in (limits.max, limits.min)]
    least, greatest = lax.reduce((x, x), tuple(ends), _widen, tuple(range(x.ndim)))
    return least, greatest


def _widen(
    now: tuple[jax.Array, jax.Array], new: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    return lax.min(now[0], new[0]), lax.max(now[1], new[1])
