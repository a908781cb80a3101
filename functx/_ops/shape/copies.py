"""Copies of arrays."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import ArrayLike, operator, Promote


__all__ = ["clone"]


@operator(promote=Promote.NO_OPMATH, aliases=("alias_copy",))
def clone(input: ArrayLike) -> Array:
    """A copy of `input` with memory of its own.

    - `input`: an array of any dtype and shape, which the result keeps.

    Arrays are immutable, so a copy is needed only where a buffer is donated to a compiled function.

    >>> functx.clone(jnp.asarray([1.0, 2.0], "float32"))
    Array([1., 2.], dtype=float32)
    """
    return jnp.copy(input)
