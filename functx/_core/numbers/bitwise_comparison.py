"""Order, equality and zero of numbers, decided on their bits.

XLA's programs for CPUs take subnormal numbers for zeros: where they add or multiply, and where
they compare. Integers they leave alone. NaN, too, is told by its bits: LLVM, which knows nothing
of that mode, makes one comparison of numbers of those of bits beside `x != x`. And XLA's greatest
of many float32 or float64 numbers is no NaN where there is one.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core.shapes.symbolic_sizes import known

from .dtypes import category


Axes = int | tuple[int, ...]

_PARTS = 8


def ordered_bits(x: Array, *, nan_least: bool = False) -> Array:
    """Integers that compare as the elements of `x` do; a NaN is the greatest of them, or the least.

    Both zeros are one, and so are all NaNs. Real dtypes.
    """
    if category(x.dtype) < 2:
        return x.astype(jnp.int8) if category(x.dtype) == 0 else x
    keys = _signed_sizes(x)
    infinity = _infinity(x.dtype)
    nan = keys.dtype.type(np.iinfo(keys.dtype).min) if nan_least else greatest_key(keys.dtype)
    return jnp.where((keys < -infinity) | (keys > infinity), nan, keys)


def greatest_key(dtype: np.dtype) -> np.integer:
    """The key of NaN among those of `ordered_bits`."""
    return np.dtype(dtype).type(np.iinfo(dtype).max)


@jax.jit
def equal(x: Array, y: Array) -> Array:
    """Whether elements of one dtype are equal, broadcasting; a NaN equals nothing."""
    if category(x.dtype) == 3:
        return equal(lax.real(x), lax.real(y)) & equal(lax.imag(x), lax.imag(y))
    if category(x.dtype) < 2:
        return x == y
    left, right, infinity = _signed_sizes(x), _signed_sizes(y), _infinity(x.dtype)
    return (left == right) & (left >= -infinity) & (left <= infinity)


@jax.jit
def same(x: Array, y: Array) -> Array:
    """Whether real elements of one dtype are equal, or both NaN, broadcasting."""
    return ordered_bits(x) == ordered_bits(y)


@jax.jit
def less(x: Array, y: Array) -> Array:
    """Whether real elements of one dtype are less, broadcasting; NaN is neither less nor more."""
    if category(x.dtype) < 2:
        return x < y
    left, right, infinity = _signed_sizes(x), _signed_sizes(y), _infinity(x.dtype)
    return (left < right) & (left >= -infinity) & (right <= infinity)


@jax.jit
def at_most(x: Array, y: Array) -> Array:
    """Whether real elements of one dtype are less or equal, broadcasting; not where one is NaN."""
    if category(x.dtype) < 2:
        return x <= y
    left, right, infinity = _signed_sizes(x), _signed_sizes(y), _infinity(x.dtype)
    return (left <= right) & (left >= -infinity) & (right <= infinity)


@jax.jit
def positive(x: Array) -> Array:
    """Whether real elements are greater than 0."""
    if category(x.dtype) == 0:
        return x
    if category(x.dtype) == 1:
        return x > 0
    return (bits(x) > 0) & (bits(x) <= _infinity(x.dtype))


@jax.jit
def negative(x: Array) -> Array:
    """Whether real elements are less than 0."""
    if category(x.dtype) == 0:
        return jnp.zeros_like(x)
    if category(x.dtype) == 1:
        return x < 0
    signed = bits(x)
    ends = np.iinfo(signed.dtype)
    # From the bits of -0.0, the least integer, to those of the negative infinity.
    return (signed > ends.min) & (signed <= ends.min + _infinity(x.dtype))


@jax.jit
def at_least_zero(x: Array) -> Array:
    """Whether real elements are 0 or greater; NaN is not."""
    return ~negative(x) & (x == x)


@jax.jit
def nonzero(x: Array) -> Array:
    """Whether elements are not zero; NaN is not."""
    if category(x.dtype) == 0:
        return x
    if category(x.dtype) == 1:
        return x != 0
    if category(x.dtype) == 3:
        return nonzero(lax.real(x)) | nonzero(lax.imag(x))
    return _sizes(x) != 0


def larger(x: Array, y: Array) -> Array:
    """The larger of each two real elements of one shape and dtype, NaN if either is."""
    if category(x.dtype) < 2:
        return lax.max(x, y)
    return lax.select(invertible_keys(x) < invertible_keys(y), y, x)


def smaller(x: Array, y: Array) -> Array:
    """The smaller of each two real elements of one shape and dtype, NaN if either is."""
    if category(x.dtype) < 2:
        return lax.min(x, y)
    keys = (invertible_keys(z, nan_least=True) for z in (y, x))
    return lax.select(lax.lt(*keys), y, x)


def greatest(x: Array, axis: Axes, *, keepdims: bool = False) -> Array:
    """The greatest elements over `axis`, NaN where there is one. Real dtypes."""
    if category(x.dtype) < 2:
        return _reduced(lax.max, jnp.max, x, axis, keepdims)
    keys = _reduced(lax.max, jnp.max, invertible_keys(x), axis, keepdims)
    return from_keys(keys, x.dtype)


def least(x: Array, axis: Axes, *, keepdims: bool = False) -> Array:
    """The least elements over `axis`, NaN where there is one. Real dtypes."""
    if category(x.dtype) < 2:
        return _reduced(lax.min, jnp.min, x, axis, keepdims)
    keys = _reduced(lax.min, jnp.min, invertible_keys(x, nan_least=True), axis, keepdims)
    return from_keys(keys, x.dtype)


def invertible_keys(x: Array, *, nan_least: bool = False) -> Array:
    """Integers in the order of floating elements, -0.0 before 0.0; NaN is the greatest or least."""
    keys = _turned(bits(x))
    ends, infinity = np.iinfo(keys.dtype), _infinity(x.dtype)
    if nan_least:
        return jnp.where(keys > infinity, keys.dtype.type(ends.min), keys)
    return jnp.where(keys < ~infinity, keys.dtype.type(ends.max), keys)


def from_keys(keys: Array, dtype: np.dtype) -> Array:
    """The elements whose `invertible_keys` these are."""
    return from_bits(_turned(keys), dtype)


def bits(x: Array) -> Array:
    """The bits of real numbers, as integers; integers and bools are returned as they are."""
    if category(x.dtype) < 2:
        return x
    return lax.bitcast_convert_type(x, np.dtype(f"int{8 * x.dtype.itemsize}"))


def from_bits(x: Array, dtype: np.dtype) -> Array:
    """The numbers whose `bits` these are; numbers are returned as they are."""
    return x if x.dtype == dtype else lax.bitcast_convert_type(x, dtype)


def _infinity(dtype: np.dtype) -> np.integer:
    """The bits of infinity: no others of a positive number are greater."""
    integers = np.dtype(f"int{8 * dtype.itemsize}")
    return integers.type(np.array(np.inf, dtype).view(integers))


def _turned(x: Array) -> Array:
    """Maps the bits of numbers to integers in the numbers' order; it is its own inverse."""
    return jnp.where(x < 0, x ^ x.dtype.type(np.iinfo(x.dtype).max), x)


def _sizes(x: Array) -> Array:
    """The bits without the sign."""
    signed = bits(x)
    return signed & signed.dtype.type(np.iinfo(signed.dtype).max)


def _signed_sizes(x: Array) -> Array:
    """The bits of numbers in their order, those of both zeros 0; of NaN beyond the infinities."""
    sizes = _sizes(x)
    return jnp.where(bits(x) < 0, -sizes, sizes)


def _reduced(
    pick: Callable[[Array, Array], Array],
    reduce: Callable[..., Array],
    x: Array,
    axis: Axes,
    keepdims: bool,
) -> Array:
    """`reduce` over `axis`, first of pieces against each other, which XLA's CPU does by vectors."""
    axes = (axis,) if isinstance(axis, int) else axis
    axes = [d for d in axes if known(x.shape[d])]
    longest = max(axes, key=lambda d: x.shape[d], default=0)
    n = x.shape[longest] if axes else 0
    part = n // _PARTS
    if part >= _PARTS:
        pieces = [
            lax.slice_in_dim(x, i * part, (i + 1) * part, axis=longest) for i in range(_PARTS)
        ]
        rest = lax.slice_in_dim(x, _PARTS * part, n, axis=longest)
        x = ft.reduce(pick, pieces)
        x = lax.concatenate([x, rest], longest) if n % _PARTS else x
    return reduce(x, axis, keepdims=keepdims)
