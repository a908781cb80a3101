"""What losses with margins share: a hinge, and a check of ranks."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import describe, refuse


def not_below_0(x: Array) -> Array:
    """$\\max(x, 0)$, with the slope of $x$ at 0."""
    return jnp.where(x < 0, 0, x)


def same_rank(**arrays: Array) -> None:
    if len({x.ndim for x in arrays.values()}) > 1:
        named = ", ".join(f"`{name}` {describe(x)}" for name, x in arrays.items())
        refuse(f"arrays must have the same number of dimensions, got {named}")
