"""Numbers at even distances."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import real_of


def evenly_spaced(first: Array, last: Array, steps: int) -> Array:
    """`steps` numbers from `first` to `last`, each half computed from the end next to it."""
    compute = first.dtype
    step = (last - first) / np.asarray(max(steps - 1, 1), compute)
    i = lax.iota(real_of(compute), steps)
    up, down = i.astype(compute), (np.asarray(steps - 1, i.dtype) - i).astype(compute)
    out = jnp.where(i < steps // 2, first + step * up, last - step * down)
    return first[None] if steps == 1 else out
