"""Logic and shifts of bits."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, category, operator, refuse


__all__ = ["bitwise_and", "bitwise_left_shift", "bitwise_xor"]


@operator(accepts=Accepts.INTEGRAL, differentiable=False, one_array=True)
def bitwise_and(input: ArrayLike, other: ArrayLike) -> Array:
    """AND of the bits of integers, or of bools, broadcasting.

    >>> functx.bitwise_and(jnp.asarray([1, 2, 3], "int32"), 2)
    Array([0, 2, 2], dtype=int32)
    """
    _check_integral(input)
    return input & other


@operator(accepts=Accepts.INTEGRAL, differentiable=False, one_array=True)
def bitwise_xor(input: ArrayLike, other: ArrayLike) -> Array:
    """Exclusive OR of the bits of integers, or of bools, broadcasting.

    >>> functx.bitwise_xor(jnp.asarray([1, 2, 3], "int32"), 2)
    Array([3, 0, 1], dtype=int32)
    """
    _check_integral(input)
    return input ^ other


@operator(accepts=Accepts.INTEGRAL, differentiable=False, one_array=True)
def bitwise_left_shift(input: ArrayLike, other: ArrayLike) -> Array:
    """Bits of integers moved left by `other` places, broadcasting.

    What is moved out is lost; a negative number of places, or too many, gives 0.

    >>> functx.bitwise_left_shift(jnp.asarray([1, 2, 3], "int32"), 2)
    Array([ 4,  8, 12], dtype=int32)
    """
    _check_integral(input)
    if category(input.dtype) == 0:
        refuse("expected integers, got bools alone", error=TypeError)
    x, places = jnp.broadcast_arrays(input, other)
    inside = (places >= 0) & (places < np.iinfo(x.dtype).bits)
    return jnp.where(inside, lax.shift_left(x, jnp.where(inside, places, 0)), 0)


def _check_integral(x: Array) -> None:
    if category(x.dtype) > 1:  # a Python number made it so
        refuse(f"expected integers, got a common dtype of {x.dtype.name}", error=TypeError)
