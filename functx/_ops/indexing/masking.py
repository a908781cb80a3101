"""Selecting with booleans, and finding where values are not zero."""

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
    Other,
    Promote,
    refuse,
    Requirement,
    Scalar,
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


@operator(promote=Promote.NONE, requires=_value_fits, takes_storage=True)
def masked_fill(input: ArrayLike, mask: Mask, value: Other) -> Array:
    r"""A copy of `input` with `value` where `mask` is True, broadcasting both.

    `value` is a number or a 0-d array, and has a gradient: the sum over what it filled.

    Dtypes: that of `input`, to which `value` is cast; a complex one is refused for real
    arrays, and eagerly on the CPU one that does not fit.

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


@operator(promote=Promote.NONE, requires=_source_suffices, takes_storage=True)
def masked_scatter(input: ArrayOnly, mask: Mask, source: ArrayOnly) -> Array:
    """A copy of `input` with the elements of `source`, in order, where `mask` is True.

    Shapes: `input` and `mask` broadcast, which gives the result's; of `source` the first elements
    count, whatever its shape. Under `jit`, what it lacks reads NaN, of integers the least (uint8:
    the greatest), of bools True.
    Dtypes: `source` has that of `input`.
    Errors: RuntimeError where `source` has fewer elements than `mask` picks.

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


@operator(promote=Promote.NONE, measured={"size": _selected}, takes_storage=True)
def masked_select(
    input: ArrayLike, mask: Mask, *, size: int | None = None, fill_value: Scalar = 0
) -> Array:
    """The elements of `input` where `mask` is True, broadcasting both, in order.

    Shapes: `[...], [...] -> [m]` with `m` the number of True. Under `jit` pass `size=m`:
    what is missing is `fill_value`, what is too many is left out.

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
    fill_value: Other = -1,
) -> Array: ...
@overload
def nonzero(
    input: ArrayLike, *, as_tuple: Literal[True], size: int | None = None, fill_value: Other = -1
) -> tuple[Array, ...]: ...
@operator(promote=Promote.NONE, differentiable=False, measured={"size": _not_zero})
def nonzero(
    input: ArrayLike, *, as_tuple: bool = False, size: int | None = None, fill_value: Other = -1
) -> Array | tuple[Array, ...]:
    """The positions of the elements that are not zero, in row-major order.

    Shapes: `[d1, ..., dn] -> [m, n]`; with `as_tuple` a tuple of `n` vectors `[m]`, one for
    each dimension (of a 0-d array one). Under `jit` pass `size=m`: what is missing is
    `fill_value`, what is too many is left out.
    Dtypes: int64.

    >>> functx.nonzero(jnp.asarray([[0, 1], [2, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    assert size is not None
    shape = input.shape if input.ndim or not as_tuple else (1,)
    columns = _coordinates(input.reshape(shape), size, fill_value)
    return tuple(columns) if as_tuple else _rows(columns, size)


@operator(promote=Promote.NONE, differentiable=False, measured={"size": _not_zero})
def argwhere(input: ArrayLike, *, size: int | None = None, fill_value: Other = -1) -> Array:
    """The positions of the elements that are not zero, as rows, in row-major order.

    Shapes: `[d1, ..., dn] -> [m, n]`. Under `jit` pass `size=m`: what is missing is `fill_value`,
    what is too many is left out.
    Dtypes: int64.

    >>> functx.argwhere(jnp.asarray([[0, 1], [2, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    assert size is not None
    return _rows(_coordinates(input, size, fill_value), size)


@operator(promote=Promote.NONE, differentiable=False)
def nonzero_static(input: ArrayLike, *, size: int, fill_value: Other = -1) -> Array:
    """The first `size` positions of elements that are not zero, in row-major order.

    What is missing is `fill_value`, an integer; what is too many is left out.

    Shapes: `[d1, ..., dn] -> [size, n]`.
    Dtypes: int64.
    Errors: ValueError if `size` is negative.

    >>> functx.nonzero_static(jnp.asarray([0, 1, 2]), size=3).tolist()
    [[1], [2], [-1]]
    """
    return _rows(_coordinates(input, size, fill_value), size)


def _coordinates(input: Array, size: int, fill_value: Other) -> list[Array]:
    """The first `size` positions of what is not zero, one vector for each dimension."""
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
