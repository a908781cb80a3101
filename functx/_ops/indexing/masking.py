"""Selection by masks, and the positions of elements that are not zero."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    ArrayLike,
    ArrayOnly,
    as_dtype,
    category,
    describe,
    glanced,
    LONG,
    Mask,
    number_at_hand,
    operator,
    Promote,
    refuse,
    Requirement,
    Scalar,
    UnpromotedArray,
    value_fits,
)
from functx._core.numbers.bitwise_comparison import nonzero as not_zero
from functx._ops.reductions.scanning import running_sum

from .addressing import cast_number, check_same_dtype, positions_where, read_slices


__all__ = [
    "argwhere",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "nonzero",
    "nonzero_static",
]


def _as_mask(mask: Mask) -> Array:
    mask = jnp.asarray(mask)
    if mask.dtype != np.bool_:
        refuse(f"`mask` must be bool, got {describe(mask)}", error=TypeError)
    return mask


def _value_at_hand(input: Any, mask: Any, value: Any) -> bool:
    return number_at_hand(value, input.dtype)


@glanced(_value_at_hand)
def _value_fits(*, input: Any, value: Any, **_: Any) -> Iterator[Requirement]:
    yield value_fits(value, input.dtype, "value")


@operator(promote=Promote.NONE, requires=_value_fits, takes_storage_dtypes=True)
def masked_fill(input: ArrayLike, mask: Mask, value: UnpromotedArray) -> Array:
    """A copy of `input` with `value` where `mask` is True.

    - `input`: an array of any dtype, which the result keeps.
    - `mask`: an array of bools.
    - `value`: a number or a 0-d array, cast to the dtype of `input`.

    Shapes: `input` and `mask` broadcast, which gives the shape of the result.
    Gradients: that of `value` is the sum over all places that it fills.
    Errors: TypeError if `mask` is not bool and for a complex `value` in a real array; RuntimeError
    for shapes that do not broadcast, for a `value` with dimensions and, eagerly on the CPU, for one
    that the dtype of `input` cannot hold.

    >>> functx.masked_fill(jnp.ones(3, "float32"), jnp.asarray([True, False, True]), 5)
    Array([5., 1., 5.], dtype=float32)
    """
    mask, value = _as_mask(mask), jnp.asarray(value)
    if value.ndim:
        refuse(f"`value` must be a number or a 0-d array, got {describe(value)}")
    value = cast_number(value, input.dtype, "value")
    shape = jnp.broadcast_shapes(input.shape, mask.shape)
    return jnp.where(mask, jnp.broadcast_to(value, shape), jnp.broadcast_to(input, shape))


def _source_suffices(*, input: Any, mask: Any, source: Any, **_: Any) -> Iterator[Requirement]:
    shape = jnp.broadcast_shapes(input.shape, mask.shape)
    needed = jnp.count_nonzero(mask) * (math.prod(shape) // max(mask.size, 1))
    yield Requirement(
        needed <= source.size,
        f"`source` must have at least {{got}} elements, as `mask` picks, got {describe(source)}",
        got=needed,
    )


@operator(promote=Promote.NONE, requires=_source_suffices, takes_storage_dtypes=True)
def masked_scatter(input: ArrayOnly, mask: Mask, source: ArrayOnly) -> Array:
    """A copy of `input` with the elements of `source`, in order, where `mask` is True.

    - `input`: an array of any dtype, which the result keeps.
    - `mask`: an array of bools.
    - `source`: an array of the dtype of `input`, whose first elements in row-major order are
      written, whatever its shape.

    Shapes: `input` and `mask` broadcast, which gives the shape of the result.
    Errors: RuntimeError where `source` has fewer elements than `mask` picks and for shapes that do
    not broadcast, TypeError for a `mask` or a `source` of another dtype. Under `jit`,
    missing elements read NaN; for integers the least value (uint8: the greatest), for bools True.

    >>> mask, source = jnp.asarray([True, False, True]), jnp.asarray([5, 6, 7], "int32")
    >>> functx.masked_scatter(jnp.zeros(3, "int32"), mask, source)
    Array([5, 0, 6], dtype=int32)
    """
    mask = _as_mask(mask)
    check_same_dtype(input, source, "source")
    shape = jnp.broadcast_shapes(input.shape, mask.shape)
    input, mask = jnp.broadcast_to(input, shape), jnp.broadcast_to(mask, shape)
    if source.size == 0:
        return input
    place = running_sum(mask.ravel().astype(as_dtype(LONG)), 0) - 1
    return jnp.where(mask, read_slices(source.ravel(), place, 0).reshape(shape), input)


def _selected(
    input: Array, mask: Mask, *, size: int | None = None, fill_value: Scalar = 0
) -> Array:
    mask = _as_mask(mask)
    shape = jnp.broadcast_shapes(input.shape, mask.shape)
    here = jnp.count_nonzero(mask)
    return here * (math.prod(shape) // max(mask.size, 1))


@operator(promote=Promote.NONE, sizes_from_values={"size": _selected}, takes_storage_dtypes=True)
def masked_select(
    input: ArrayLike, mask: Mask, *, size: int | None = None, fill_value: Scalar = 0
) -> Array:
    """The elements of `input` where `mask` is True, in row-major order.

    - `input`: an array of any dtype, which the result keeps.
    - `mask`: an array of bools, broadcast with `input`.
    - `size`: the length of the result. None counts the elements, which `jit` cannot: it must be
      told.
    - `fill_value`: a number for the places of missing elements, where `size` is too large. Where it
      is too small, elements are left out.

    Shapes: `[...], [...] -> [size]`.
    Errors: TypeError if `mask` is not bool, RuntimeError for shapes that do not broadcast,
    ValueError for a negative `size`.

    >>> functx.masked_select(jnp.asarray([1, 2, 3], "int32"), jnp.asarray([True, False, True]))
    Array([1, 3], dtype=int32)
    """
    assert size is not None
    mask = _as_mask(mask)
    shape = jnp.broadcast_shapes(input.shape, mask.shape)
    found = positions_where(jnp.broadcast_to(mask, shape).ravel(), size)
    out = read_slices(jnp.broadcast_to(input, shape).ravel(), found, 0)
    filling = cast_number(fill_value, input.dtype, "fill_value")
    return jnp.where(found < math.prod(shape), out, filling)


def _not_zero(input: Array, **_: Any) -> Array:
    return jnp.count_nonzero(not_zero(input))


@overload
def nonzero(
    input: ArrayLike,
    *,
    as_tuple: Literal[False] = False,
    size: int | None = None,
    fill_value: UnpromotedArray = -1,
) -> Array: ...
@overload
def nonzero(
    input: ArrayLike,
    *,
    as_tuple: Literal[True],
    size: int | None = None,
    fill_value: UnpromotedArray = -1,
) -> tuple[Array, ...]: ...
@operator(promote=Promote.NONE, differentiable=False, sizes_from_values={"size": _not_zero})
def nonzero(
    input: ArrayLike,
    *,
    as_tuple: bool = False,
    size: int | None = None,
    fill_value: UnpromotedArray = -1,
) -> Array | tuple[Array, ...]:
    """The positions of the elements that are not zero, in row-major order.

    - `input`: an array of any dtype.
    - `as_tuple`: whether the result is a tuple of vectors, one for each dimension (one for a 0-d
      array), in place of an array with one row for each position.
    - `size`: the number of positions, `m`. None counts them, which `jit` cannot: it must be told.
    - `fill_value`: an integer for the places of missing positions, where `size` is too large. Where
      it is too small, positions are left out.

    Shapes: `[d1, ..., dn] -> [m, n]`; with `as_tuple`, `n` times `[m]`.
    Dtypes: int64.
    Errors: TypeError if `fill_value` is not an integer, ValueError for a negative `size`.

    >>> functx.nonzero(jnp.asarray([[0, 1], [2, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    assert size is not None
    shape = input.shape if input.ndim or not as_tuple else (1,)
    columns = _coordinates(input.reshape(shape), size, fill_value)
    return tuple(columns) if as_tuple else _rows(columns, size)


@operator(promote=Promote.NONE, differentiable=False, sizes_from_values={"size": _not_zero})
def argwhere(
    input: ArrayLike, *, size: int | None = None, fill_value: UnpromotedArray = -1
) -> Array:
    """The positions of the elements that are not zero, as rows, in row-major order.

    - `input`: an array of any dtype.
    - `size`: the number of positions, `m`. None counts them, which `jit` cannot: it must be told.
    - `fill_value`: an integer for the places of missing positions, where `size` is too large. Where
      it is too small, positions are left out.

    Shapes: `[d1, ..., dn] -> [m, n]`.
    Dtypes: int64.
    Errors: TypeError if `fill_value` is not an integer, ValueError for a negative `size`.

    >>> functx.argwhere(jnp.asarray([[0, 1], [2, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    assert size is not None
    return _rows(_coordinates(input, size, fill_value), size)


@operator(promote=Promote.NONE, differentiable=False)
def nonzero_static(input: ArrayLike, *, size: int, fill_value: UnpromotedArray = -1) -> Array:
    """The first `size` positions of elements that are not zero, as rows, in row-major order.

    - `input`: an array of any dtype.
    - `size`: the number of rows. Positions beyond it are left out.
    - `fill_value`: an integer for the places of missing positions, where there are fewer than
      `size`.

    Shapes: `[d1, ..., dn] -> [size, n]`.
    Dtypes: int64.
    Errors: TypeError if `fill_value` is not an integer, ValueError if `size` is negative.

    >>> functx.nonzero_static(jnp.asarray([0, 1, 2]), size=3).tolist()
    [[1], [2], [-1]]
    """
    return _rows(_coordinates(input, size, fill_value), size)


def _coordinates(input: Array, size: int, fill_value: UnpromotedArray) -> list[Array]:
    """The first `size` positions of elements that are not zero, one vector for each dimension."""
    found = positions_where(not_zero(input.ravel()), size)
    missing = found >= input.size
    filling = jnp.asarray(fill_value)
    if category(filling.dtype) != 1:
        refuse(f"`fill_value` must be an integer, got {describe(filling)}", error=TypeError)
    filling = lax.convert_element_type(filling, as_dtype(LONG))
    columns, rest = [], found
    for n in reversed(input.shape):
        columns.append(jnp.where(missing, filling, rest % max(n, 1)))
        rest = rest // max(n, 1)
    return columns[::-1]


def _rows(columns: list[Array], size: int) -> Array:
    return jnp.stack(columns, 1) if columns else jnp.zeros((size, 0), as_dtype(LONG))
