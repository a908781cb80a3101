"""New arrays of one value, with the shape or the dtype of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import jax.numpy as jnp
from jax import Array

from functx._core import (
    ArrayLike,
    category,
    converted,
    describe,
    Device,
    DType,
    is_number,
    operator,
    Promote,
    refuse,
    Requirement,
    Shape,
    UnpromotedArray,
    value_fits,
)

from .elements import element
from .sizes import non_negative, size_after_array


__all__ = ["fill", "full_like", "new_full", "new_ones", "new_zeros"]


def _fill_fits(*, input: Any, fill_value: Any, dtype: Any, **_: Any) -> Iterator[Requirement]:
    yield value_fits(fill_value, dtype or input.dtype, "fill_value")


@operator(promote=Promote.NONE, requires=_fill_fits, takes_storage_dtypes=True)
def full_like(
    input: ArrayLike,
    fill_value: UnpromotedArray,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """An array of one value in the shape of `input`.

    - `fill_value`: a number or a 0-d array, which may be traced and differentiated.
    - `dtype`: the dtype of the result, by default that of `input`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Errors: RuntimeError for a `fill_value` that the dtype cannot hold.

    >>> functx.full_like(jnp.zeros(2, "float32"), 0.5)
    Array([0.5, 0.5], dtype=float32)
    """
    return jnp.broadcast_to(element(fill_value, dtype or input.dtype), input.shape)


@operator(promote=Promote.NONE, requires=_fill_fits, takes_storage_dtypes=True)
def new_full(
    input: ArrayLike,
    size: Shape,
    fill_value: UnpromotedArray,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """An array of one value in the dtype of `input`.

    - `size`: the sizes of the dimensions, a tuple.
    - `fill_value`: a number or a 0-d array, which may be traced and differentiated.
    - `dtype`: the dtype of the result, by default that of `input`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `size`.
    Errors: RuntimeError for a negative size, and for a `fill_value` that the dtype cannot hold.

    >>> functx.new_full(jnp.zeros(3, "int32"), (2,), 7)
    Array([7, 7], dtype=int32)
    """
    return jnp.broadcast_to(element(fill_value, dtype or input.dtype), non_negative(size))


@overload
def new_zeros(
    input: ArrayLike,
    size: int | Sequence[int],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array: ...
@overload
def new_zeros(
    input: ArrayLike,
    size: int,
    /,
    *sizes: int,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array: ...
@operator(
    promote=Promote.NO_OPMATH,
    other_signatures=size_after_array,
    differentiable=False,
    aliases=("new_empty",),
)
def new_zeros(
    input: ArrayLike, size: Shape, *, dtype: DType | None = None, device: Device | None = None
) -> Array:
    """An array of zeros in the dtype of `input`.

    - `size`: the sizes of the dimensions, one tuple or several integers: `new_zeros(x, 2, 3)`.
    - `dtype`: the dtype of the result, by default that of `input`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `size`. Errors: RuntimeError for a negative size.

    >>> functx.new_zeros(jnp.ones(3, "int32"), (2,))
    Array([0, 0], dtype=int32)
    """
    return jnp.zeros(non_negative(size), input.dtype)


@overload
def new_ones(
    input: ArrayLike,
    size: int | Sequence[int],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array: ...
@overload
def new_ones(
    input: ArrayLike,
    size: int,
    /,
    *sizes: int,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array: ...
@operator(promote=Promote.NO_OPMATH, other_signatures=size_after_array, differentiable=False)
def new_ones(
    input: ArrayLike, size: Shape, *, dtype: DType | None = None, device: Device | None = None
) -> Array:
    """An array of ones in the dtype of `input`.

    - `size`: the sizes of the dimensions, one tuple or several integers: `new_ones(x, 2, 3)`.
    - `dtype`: the dtype of the result, by default that of `input`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `size`. Errors: RuntimeError for a negative size.

    >>> functx.new_ones(jnp.zeros(3, "int32"), (2,))
    Array([1, 1], dtype=int32)
    """
    return jnp.ones(non_negative(size), input.dtype)


def _number_fits(*, input: Any, value: Any, **_: Any) -> Iterator[Requirement]:
    if is_number(value):
        yield value_fits(value, input.dtype, "value")


@operator(promote=Promote.NONE, requires=_number_fits, takes_storage_dtypes=True)
def fill(input: ArrayLike, value: UnpromotedArray) -> Array:
    """An array of one value in the shape and the dtype of `input`.

    - `value`: a number, or a 0-d array, which is cast. The gradient of such an array is the sum.

    Errors: RuntimeError for a number that the dtype cannot hold, and for an array with dimensions.

    >>> functx.fill(jnp.zeros(2, "float32"), 0.5)
    Array([0.5, 0.5], dtype=float32)
    """
    value = jnp.asarray(value)
    if value.ndim:
        refuse(f"`value` must be a number or 0-d, got {describe(value)}")
    if is_number(value) and category(value.dtype) == 3 and 0 < category(input.dtype) < 3:
        refuse(f"`value` must be real for {describe(input)}, got {describe(value)}")
    return jnp.broadcast_to(converted(value, input.dtype), input.shape)
