"""The elements that a mask keeps, and the values that stand in the places of the others.

Masked elements are replaced before anything is computed, so they have gradient 0 whatever they
hold.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import broadcasts_to, describe, refuse
from functx._core.numbers.bitwise_comparison import nonzero


def kept(input: Array, mask: Any, name: str = "mask") -> Array | None:
    """The mask as bools in the shape of `input`, or None where all elements are kept."""
    if mask is None:
        return None
    mask = jnp.asarray(mask)
    if not broadcasts_to(mask.shape, input.shape):
        refuse(f"`{name}` must broadcast to {describe(input)}, got {describe(mask)}")
    return jnp.broadcast_to(nonzero(mask), input.shape)


def filled(input: Array, keep: Array | None, value: Any) -> Array:
    """`input` with `value` in the places of the masked elements."""
    if keep is None:
        return input
    return jnp.where(keep, input, jnp.asarray(value, input.dtype))
