"""The same array again."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import ArrayLike, operator, Promote


__all__ = ["clone"]


@operator(promote=Promote.NO_OPMATH, aliases=("alias_copy",))
def clone(input: ArrayLike) -> Array:
    """A copy with memory of its own. Arrays are immutable: only buffers to donate need one.

    >>> functx.clone(jnp.asarray([1.0, 2.0], "float32"))
    Array([1., 2.], dtype=float32)
    """
    return jnp.copy(input)
