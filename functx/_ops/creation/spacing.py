"""Evenly spaced numbers."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, core, lax

from functx._core import (
    as_scalar,
    known,
    real_of,
    Size,
)


def evenly_spaced(first: Array, last: Array, steps: Size) -> Array:
    """`steps` numbers from `first` to `last`; each half is computed from the end next to it."""
    compute = first.dtype
    step = (last - first) / as_scalar(core.max_dim(steps - 1, 1), compute)
    i = lax.iota(real_of(compute), steps)
    up, down = i.astype(compute), (as_scalar(steps - 1, i.dtype) - i).astype(compute)
    out = jnp.where(i < steps // 2, first + step * up, last - step * down)
    if not known(steps):
        return jnp.where(jnp.asarray(steps) == 1, first, out)
    return first[None] if steps == 1 else out
