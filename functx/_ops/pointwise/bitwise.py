"""Logical operations on bits, and shifts of bits."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, category, operator, refuse


__all__ = [
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
]


@operator(accepts=Accepts.INTEGRAL, differentiable=False)
def bitwise_not(input: ArrayLike) -> Array:
    """Each bit of the integers `input` inverted, or the negation of each bool.

    Errors: TypeError for floating and complex numbers.

    >>> functx.bitwise_not(jnp.asarray([0, 1, -3], "int32"))
    Array([-1, -2,  2], dtype=int32)
    """
    return ~input


@operator(accepts=Accepts.INTEGRAL, differentiable=False, needs_array=True)
def bitwise_and(input: ArrayLike, other: ArrayLike) -> Array:
    """AND of the bits of `input` and `other`, which are integers or bools.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for floating and complex numbers.

    >>> functx.bitwise_and(jnp.asarray([1, 2, 3], "int32"), 2)
    Array([0, 2, 2], dtype=int32)
    """
    _check_integral(input)
    return input & other


@operator(accepts=Accepts.INTEGRAL, differentiable=False, needs_array=True)
def bitwise_or(input: ArrayLike, other: ArrayLike) -> Array:
    """OR of the bits of `input` and `other`, which are integers or bools.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for floating and complex numbers.

    >>> functx.bitwise_or(jnp.asarray([1, 2, 3], "int32"), 2)
    Array([3, 2, 3], dtype=int32)
    """
    _check_integral(input)
    return jnp.bitwise_or(input, other)


@operator(accepts=Accepts.INTEGRAL, differentiable=False, needs_array=True)
def bitwise_xor(input: ArrayLike, other: ArrayLike) -> Array:
    """Exclusive OR of the bits of `input` and `other`, which are integers or bools.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for floating and complex numbers.

    >>> functx.bitwise_xor(jnp.asarray([1, 2, 3], "int32"), 2)
    Array([3, 0, 1], dtype=int32)
    """
    _check_integral(input)
    return input ^ other


@operator(accepts=Accepts.INTEGRAL, differentiable=False, needs_array=True)
def bitwise_left_shift(input: ArrayLike, other: ArrayLike) -> Array:
    """Moves the bits of the integers `input` left by `other` places.

    Bits that leave the integer are lost. A negative number of places, or as many as the integer has
    bits, gives 0.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for bools alone, and for floating and complex numbers.

    >>> functx.bitwise_left_shift(jnp.asarray([1, 2, 3], "int32"), 2)
    Array([ 4,  8, 12], dtype=int32)
    """
    x, places = _shifted(input, other)
    inside = _inside(places)
    return jnp.where(inside, lax.shift_left(x, jnp.where(inside, places, 0)), 0)


@operator(accepts=Accepts.INTEGRAL, differentiable=False, needs_array=True)
def bitwise_right_shift(input: ArrayLike, other: ArrayLike) -> Array:
    """Moves the bits of the integers `input` right by `other` places; the sign stays.

    Bits that leave the integer are lost. A negative number of places, or as many as the integer has
    bits, leaves the sign alone: 0, or -1 for negative integers.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for bools alone, and for floating and complex numbers.

    >>> functx.bitwise_right_shift(jnp.asarray([4, 9, -9], "int32"), 2)
    Array([ 1,  2, -3], dtype=int32)
    """
    x, places = _shifted(input, other)
    inside = _inside(places)
    if x.dtype.kind == "u":
        return jnp.where(inside, lax.shift_right_logical(x, jnp.where(inside, places, 0)), 0)
    return lax.shift_right_arithmetic(x, jnp.where(inside, places, np.iinfo(x.dtype).bits - 1))


def _shifted(input: Array, other: Array) -> list[Array]:
    _check_integral(input)
    if category(input.dtype) == 0:
        refuse("expected integers, got bools alone", error=TypeError)
    return jnp.broadcast_arrays(input, other)


def _inside(places: Array) -> Array:
    return (places >= 0) & (places < np.iinfo(places.dtype).bits)


def _check_integral(x: Array) -> None:
    if category(x.dtype) > 1:  # a Python float promotes integers
        refuse(f"expected integers, got a common dtype of {x.dtype.name}", error=TypeError)
