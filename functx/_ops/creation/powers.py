"""Consecutive powers of the elements of an array."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import known, Size
from functx._ops.reductions.scanning import running_product


def powers_of(x: Array, count: Size) -> Array:
    r"""The powers $x^0, x^1, \dots$ of each element, `count` of them, along a new last dimension.

    The powers are products, whose derivatives are finite at 0 too.
    """
    if not known(count):
        at = lax.broadcasted_iota(np.int32, (*x.shape, count), x.ndim)
        return running_product(jnp.where(at > 0, x[..., None], np.ones((), x.dtype)), x.ndim)
    ones = jnp.ones((*x.shape, min(count, 1)), x.dtype)
    if count < 2:
        return ones
    factors = jnp.broadcast_to(x[..., None], (*x.shape, count - 1))
    return lax.concatenate([ones, running_product(factors, x.ndim)], x.ndim)
