"""New arrays of one value, and the identity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import jax.numpy as jnp
from jax import Array

from functx._core import (
    ArrayLike,
    as_dtype,
    category,
    default_float,
    default_of,
    Device,
    DType,
    operator,
    Promote,
    Requirement,
    Shape,
    Size,
    UnpromotedArray,
    value_fits,
)

from .elements import element
from .sizes import non_negative, size_form


__all__ = ["eye", "full", "ones", "ones_like", "scalar_tensor", "zeros", "zeros_like"]


@overload
def zeros(
    size: int, /, *sizes: int, dtype: DType | None = None, device: Device | None = None
) -> Array: ...
@overload
def zeros(
    size: int | Sequence[int], *, dtype: DType | None = None, device: Device | None = None
) -> Array: ...
@operator(
    other_signatures=size_form, differentiable=False, aliases=("empty",), takes_storage_dtypes=True
)
def zeros(size: Shape, *, dtype: DType | None = None, device: Device | None = None) -> Array:
    """An array of zeros.

    - `size`: the sizes of the dimensions, one tuple or several integers: `zeros(2, 3)`.
    - `dtype`: the dtype of the result; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `size`. Errors: RuntimeError for a negative size.

    >>> functx.zeros(2, 2)
    Array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    return jnp.zeros(non_negative(size), dtype or default_float())


@overload
def ones(
    size: int, /, *sizes: int, dtype: DType | None = None, device: Device | None = None
) -> Array: ...
@overload
def ones(
    size: int | Sequence[int], *, dtype: DType | None = None, device: Device | None = None
) -> Array: ...
@operator(other_signatures=size_form, differentiable=False, takes_storage_dtypes=True)
def ones(size: Shape, *, dtype: DType | None = None, device: Device | None = None) -> Array:
    """An array of ones.

    - `size`: the sizes of the dimensions, one tuple or several integers: `ones(2, 3)`.
    - `dtype`: the dtype of the result; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `size`. Errors: RuntimeError for a negative size.

    >>> functx.ones((2,), dtype=functx.int32)
    Array([1, 1], dtype=int32)
    """
    return jnp.ones(non_negative(size), dtype or default_float())


def _fill_fits(*, fill_value: Any, dtype: Any, **_: Any) -> Iterator[Requirement]:
    if dtype is None and category(fill_value.dtype) >= 2:
        dtype = default_of(category(fill_value.dtype))
    if dtype is not None:
        yield value_fits(fill_value, dtype, "fill_value")


@operator(promote=Promote.NONE, requires=_fill_fits, takes_storage_dtypes=True)
def full(
    size: Shape,
    fill_value: UnpromotedArray,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """An array of one value.

    - `size`: the sizes of the dimensions, a tuple.
    - `fill_value`: a number or a 0-d array, which may be traced and differentiated.
    - `dtype`: the dtype of the result; by default bool, int64 or a default dtype, by the kind of
      `fill_value`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `size`.
    Errors: RuntimeError for a negative size, and for a `fill_value` that the dtype cannot hold.

    >>> functx.full((2,), 0.5)
    Array([0.5, 0.5], dtype=float32)
    """
    kind = category(jnp.asarray(fill_value).dtype)
    dtype = as_dtype(dtype or default_of(kind))
    return jnp.broadcast_to(element(fill_value, dtype), non_negative(size))


def _number_fits(*, s: Any, dtype: Any, **_: Any) -> Iterator[Requirement]:
    yield value_fits(s, dtype or default_float(), "s")


@operator(promote=Promote.NONE, requires=_number_fits, takes_storage_dtypes=True)
def scalar_tensor(
    s: UnpromotedArray, *, dtype: DType | None = None, device: Device | None = None
) -> Array:
    """A number as a 0-d array.

    - `s`: a number or a 0-d array.
    - `dtype`: the dtype of the result; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Errors: RuntimeError for a number that the dtype cannot hold.

    >>> functx.scalar_tensor(2)
    Array(2., dtype=float32)
    """
    return element(s, as_dtype(dtype or default_float()), "s")


@operator(promote=Promote.NO_OPMATH, differentiable=False, aliases=("empty_like",))
def zeros_like(
    input: ArrayLike, *, dtype: DType | None = None, device: Device | None = None
) -> Array:
    """An array of zeros in the shape of `input`.

    - `dtype`: the dtype of the result, by default that of `input`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    >>> functx.zeros_like(jnp.ones(2, "float32"))
    Array([0., 0.], dtype=float32)
    """
    return jnp.zeros(input.shape, input.dtype)


@operator(promote=Promote.NO_OPMATH, differentiable=False)
def ones_like(
    input: ArrayLike, *, dtype: DType | None = None, device: Device | None = None
) -> Array:
    """An array of ones in the shape of `input`.

    - `dtype`: the dtype of the result, by default that of `input`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    >>> functx.ones_like(jnp.zeros(2, "float32"))
    Array([1., 1.], dtype=float32)
    """
    return jnp.ones(input.shape, input.dtype)


@operator(differentiable=False)
def eye(
    n: Size, m: Size | None = None, *, dtype: DType | None = None, device: Device | None = None
) -> Array:
    """The identity matrix, or a wider or taller one with ones on its main diagonal.

    - `n`: the number of rows.
    - `m`: the number of columns, by default `n`.
    - `dtype`: the dtype of the result; the default dtype if it is `None`.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[n, m]`. Errors: RuntimeError for a negative size.

    >>> functx.eye(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    for name, size in (("n", n), ("m", n if m is None else m)):
        non_negative((size,), name)
    return jnp.eye(n, m, dtype=dtype or default_float())
