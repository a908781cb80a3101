"""Powers in a row."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._ops.reductions.scanning import running_product


def powers_of(x: Array, count: int) -> Array:
    """The powers $x^0, x^1, \\dots$ of each element, `count` of them, along a new last dimension.

    They are products, whose derivatives are finite at 0 too.
    """
    ones = jnp.ones((*x.shape, min(count, 1)), x.dtype)
    if count < 2:
        return ones
    factors = jnp.broadcast_to(x[..., None], (*x.shape, count - 1))
    return lax.concatenate([ones, running_product(factors, x.ndim)], x.ndim)
