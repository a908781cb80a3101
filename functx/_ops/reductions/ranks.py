"""The element of a given rank, found by bisection, which costs less than sorting."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    as_scalar,
    bit_length,
    category,
    known,
    position_dtype,
)
from functx._core.numbers.bitwise_comparison import greatest_key, ordered_bits

from .ties import places


def position_of_rank(keys: Array, rank: Array, dim: int) -> Array:
    """The position along `dim` of the element that a stable sort puts at `rank`.

    Shapes: `rank` and the result have the shape of `keys`, with size 1 along `dim`. Dtypes: `keys`
    are integers, `rank` is of the dtype that counts them.

    Bisection finds, bit by bit, the greatest number that at most `rank` keys are less than, and
    then the position among the keys that equal it.
    """
    keys = jnp.moveaxis(keys, dim, 0)  # so that whole rows are counted
    at = places(keys, 0)
    count = ft.partial(jnp.sum, axis=0, dtype=at.dtype)
    rank = jnp.squeeze(rank, dim)
    ends = np.iinfo(keys.dtype)
    least = jnp.full_like(rank, ends.min, keys.dtype)
    value = _greatest(lambda bound: count(keys < bound) <= rank, least, 8 * keys.dtype.itemsize)
    equal = keys == value
    rank = rank - count(keys < value)
    n = keys.shape[0]
    bits = max(1, (n - 1).bit_length()) if known(n) else jnp.maximum(bit_length(n - 1), 1)
    first = jnp.zeros_like(rank, at.dtype)
    place = _greatest(lambda bound: count(equal & (at < bound)) <= rank, first, bits)
    return jnp.expand_dims(place, dim)


def position_of_nanmedian(x: Array, dim: int, kept: Array | None = None) -> Array:
    """The index of the median without NaN along `dim`.

    If all elements are NaN it is that of the first. If `kept` is given, the other elements must be
    NaN, or the greatest integer.
    """
    keys = ordered_bits(lax.stop_gradient(x))
    count, nans = count_nan(keys, x.dtype, dim)
    left = count - nans
    if kept is not None and category(x.dtype) < 2:
        left = jnp.sum(kept, dim, dtype=left.dtype, keepdims=True)
    return position_of_rank(keys, jnp.maximum(left - 1, 0) // 2, dim)


def count_nan(keys: Array, dtype: np.dtype, dim: int) -> tuple[Array, Array]:
    """The number of elements along `dim`, and the number of NaN among them."""
    kind = position_dtype(keys.shape[dim])
    none = jnp.full_like(lax.slice_in_dim(keys, 0, 1, axis=dim), 0, kind)
    count = none + as_scalar(keys.shape[dim], kind)
    if category(dtype) < 2:
        return count, none
    nan = keys == greatest_key(keys.dtype)
    return count, jnp.sum(nan, dim, dtype=kind, keepdims=True)


def _greatest(holds: Callable[[Array], Array], least: Array, bits: Any) -> Array:
    """The greatest of the `2 ** bits` numbers from `least` on for which `holds`.

    `holds` must be true of all smaller numbers, too.
    """

    def body(i: Array, found: Array) -> Array:
        bit = lax.shift_left(found.dtype.type(1), (bits - 1 - i).astype(found.dtype))
        bound = found + bit
        return jnp.where(holds(bound), bound, found)

    return lax.fori_loop(0, bits, body, least)
