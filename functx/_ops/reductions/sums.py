"""Sums, means, products and counts."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    available,
    category,
    describe,
    Dim,
    Dims,
    DType,
    known,
    LONG,
    operator,
    Promote,
    refuse,
    rounded_first,
)
from functx._core.numbers.bitwise_comparison import nonzero
from functx._ops.quotients import mean as mean_of, quotient
from functx._ops.shape.planes import on_diagonal as on_diagonal_of

from .totals import product, refuse_integers, total


__all__ = ["count_nonzero", "mean", "nanmean", "nansum", "prod", "sum", "trace"]


@operator(promote=Promote.INT_TO_LONG, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def sum(
    input: ArrayLike, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Sum of the elements of `input` over `dim`.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `keepdim`: whether reduced dimensions stay with size 1.
    - `dtype`: the dtype to which `input` is cast first; `None` keeps that of `input`.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: bools and integers give int64, unless `dtype` is given.

    >>> functx.sum(jnp.ones((2, 3), "float32"), dim=-1)
    Array([3., 3.], dtype=float32)
    """
    return total(rounded_first(input, dtype), dim, keepdim)


@operator(promote=Promote.INT_TO_LONG, accepts=Accepts.REAL)
def nansum(
    input: ArrayLike, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Sum of the elements of `input` over `dim` that are not NaN.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `keepdim`: whether reduced dimensions stay with size 1.
    - `dtype`: the dtype to which `input` is cast first; `None` keeps that of `input`.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: bools and integers give int64, unless `dtype` is given. Errors: TypeError for complex
    numbers.
    Gradients: NaN has gradient 0.

    >>> functx.nansum(jnp.asarray([1.0, jnp.nan, 2.0], "float32"))
    Array(3., dtype=float32)
    """
    return total(_without_nan(rounded_first(input, dtype)), dim, keepdim)


@operator(accepts=Accepts.FLOATING)
def nanmean(
    input: ArrayLike, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Mean of the elements of `input` over `dim` that are not NaN; NaN where nothing is left.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `keepdim`: whether reduced dimensions stay with size 1.
    - `dtype`: the floating dtype to which `input` is cast first; `None` keeps that of `input`.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: floating. Errors: TypeError for other dtypes.
    Gradients: NaN has gradient 0, also where there is nothing else (there PyTorch's is NaN).

    >>> functx.nanmean(jnp.asarray([1.0, jnp.nan, 2.0], "float32"))
    Array(1.5, dtype=float32)
    """
    refuse_integers(input)
    input = rounded_first(input, dtype)
    count = jnp.sum(input == input, dim or None, dtype=input.dtype, keepdims=keepdim)
    return quotient(total(_without_nan(input), dim, keepdim), lax.stop_gradient(count))


@operator()
def mean(
    input: ArrayLike, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Mean of the elements of `input` over `dim`; NaN where there are none.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `keepdim`: whether reduced dimensions stay with size 1.
    - `dtype`: the dtype to which `input` is cast first; integers need one.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: floating or complex.
    Errors: TypeError if the dtype, given or not, is neither floating nor complex.

    >>> functx.mean(jnp.asarray([1, 2, 6]), dtype=jnp.float32)
    Array(3., dtype=float32)
    """
    refuse_integers(input)
    return mean_of(input, dim or None, keepdims=keepdim)


@operator(promote=Promote.INT_TO_LONG, autocast=Autocast.FLOAT32)
def prod(
    input: ArrayLike, dim: Dim | None = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Product of the elements of `input` over `dim`.

    - `dim`: one dimension; `None` stands for all.
    - `keepdim`: whether the reduced dimension stays with size 1.
    - `dtype`: the dtype to which `input` is cast first; `None` keeps that of `input`.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: bools and integers give int64, unless `dtype` is given.
    Derivatives: they multiply the other elements and divide by none, so zeros are no exception.

    >>> functx.prod(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"), 0)
    Array([3., 8.], dtype=float32)
    """
    axes = None if dim is None or input.ndim == 0 else dim
    if category(input.dtype) == 0:
        return jnp.all(input, axis=axes, keepdims=keepdim)
    input = rounded_first(input, dtype)
    out = product(jnp.ravel(input), 0) if axes is None else product(input, axes)
    if not keepdim:
        return out
    return out.reshape((1,) * input.ndim) if axes is None else jnp.expand_dims(out, axes)


def _without_nan(x: Array) -> Array:
    return x if category(x.dtype) < 2 else jnp.where(x == x, x, 0)


@operator(promote=Promote.INT_TO_LONG, accepts=Accepts.NUMBER, autocast_cpu=Autocast.FLOAT32)
def trace(input: ArrayLike) -> Array:
    r"""Sum of the diagonal of the matrix `input`: $\sum_i x_{ii}$.

    Shapes: `[m, n] -> []`. Dtypes: integers give int64.
    Errors: RuntimeError unless `input` has two dimensions, TypeError for bools.

    >>> functx.trace(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array(5., dtype=float32)
    """
    if input.ndim != 2:
        refuse(f"`input` must be a matrix, got {describe(input)}")
    rows, columns = input.shape
    if known(rows, columns):
        return jnp.sum(jnp.diagonal(input), promote_integers=False)
    on_diagonal = on_diagonal_of(rows, columns, 0)
    return jnp.sum(jnp.where(on_diagonal, input, 0), promote_integers=False)


@operator(promote=Promote.NONE, differentiable=False)
def count_nonzero(input: ArrayLike, dim: Dims = None) -> Array:
    """The number of elements of `input` over `dim` that are not zero. NaN is not zero.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.

    Shapes: `[..., n, ...] -> [..., ...]`. Dtypes: int64.

    >>> print(functx.count_nonzero(jnp.asarray([[0, 1], [2, 3]]), dim=0))
    [1 2]
    """
    return jnp.sum(nonzero(input), axis=dim or None, dtype=available(LONG))
