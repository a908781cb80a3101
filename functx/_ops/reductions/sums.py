"""Sums, means, products and counts."""

from __future__ import annotations

import jax
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
    LONG,
    operator,
    Promote,
    refuse,
    rounded_first,
)
from functx._core.order import nonzero
from functx._core.rules import derivative_rules
from functx._ops.quotients import mean as mean_of, quotient


__all__ = ["count_nonzero", "mean", "nanmean", "nansum", "prod", "sum", "trace"]


@operator(promote=Promote.INT_TO_LONG, autocast=Autocast.FLOAT32)
def sum(
    input: ArrayLike, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Sum over `dim`, or over every dimension if it is `None` or empty.

    Shapes: `[..., n, ...] -> [..., ...]`; with `keepdim`, `n` becomes 1.
    Dtypes: bools and integers accumulate in int64; `dtype`, if given, wins: the input is cast
    first.

    >>> functx.sum(jnp.ones((2, 3), "float32"), dim=-1)
    Array([3., 3.], dtype=float32)
    """
    return _sum(rounded_first(input, dtype), dim, keepdim)


@operator(promote=Promote.INT_TO_LONG, accepts=Accepts.REAL)
def nansum(
    input: ArrayLike, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Sum of what is not NaN over `dim`, or over every dimension if it is `None` or empty.

    Shapes: `[..., n, ...] -> [..., ...]`; with `keepdim`, `n` becomes 1.
    Dtypes: bools and integers accumulate in int64; `dtype`, if given, wins: the input is cast
    first.
    A NaN has gradient 0.

    >>> functx.nansum(jnp.asarray([1.0, jnp.nan, 2.0], "float32"))
    Array(3., dtype=float32)
    """
    return _sum(_without_nan(rounded_first(input, dtype)), dim, keepdim)


@operator(accepts=Accepts.FLOATING)
def nanmean(
    input: ArrayLike, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Mean of what is not NaN over `dim`, or over every dimension if it is `None` or empty.

    Where nothing is left, it is NaN.

    Shapes: `[..., n, ...] -> [..., ...]`; with `keepdim`, `n` becomes 1.
    Dtypes: floating, and so is `dtype`, to which the input is cast first.
    A NaN has gradient 0, also where there is nothing else (there PyTorch's is NaN).

    >>> functx.nanmean(jnp.asarray([1.0, jnp.nan, 2.0], "float32"))
    Array(1.5, dtype=float32)
    """
    _refuse_integers(input)
    input = rounded_first(input, dtype)
    count = jnp.sum(input == input, dim or None, dtype=input.dtype, keepdims=keepdim)
    return quotient(_sum(_without_nan(input), dim, keepdim), lax.stop_gradient(count))


@operator()
def mean(
    input: ArrayLike, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Mean over `dim`, or over every dimension if it is `None` or empty. Of nothing, it is NaN.

    Shapes: `[..., n, ...] -> [..., ...]`; with `keepdim`, `n` becomes 1.
    Dtypes: floating or complex; integers need a `dtype`.
    Errors: TypeError if the dtype, given or not, is neither floating nor complex.

    >>> functx.mean(jnp.asarray([1, 2, 6]), dtype=jnp.float32)
    Array(3., dtype=float32)
    """
    _refuse_integers(input)
    return mean_of(input, dim or None, keepdims=keepdim)


@operator(promote=Promote.INT_TO_LONG, autocast=Autocast.FLOAT32)
def prod(
    input: ArrayLike, dim: Dim | None = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """Product over `dim`, or over every dimension if it is `None`.

    Shapes: `[..., n, ...] -> [..., ...]`; with `keepdim`, `n` becomes 1.
    Dtypes: bools and integers multiply in int64; `dtype`, if given, wins: the input is cast
    first.
    Derivatives multiply the other elements and divide by none, so zeros are no exception.

    >>> functx.prod(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"), 0)
    Array([3., 8.], dtype=float32)
    """
    axes = None if dim is None or input.ndim == 0 else dim
    if category(input.dtype) == 0:
        return jnp.all(input, axis=axes, keepdims=keepdim)
    input = rounded_first(input, dtype)
    out = _product(jnp.ravel(input), 0) if axes is None else _product(input, axes)
    if not keepdim:
        return out
    return out.reshape((1,) * input.ndim) if axes is None else jnp.expand_dims(out, axes)


def _refuse_integers(input: Array) -> None:
    if category(input.dtype) < 2:
        refuse(
            f"expected a floating or complex dtype, got {describe(input)}",
            hint="pass `dtype=functx.float32`",
            error=TypeError,
        )


def _sum(x: Array, dim: Dims, keepdim: bool) -> Array:
    if category(x.dtype) == 0:
        return jnp.any(x, axis=dim or None, keepdims=keepdim)
    return jnp.sum(x, axis=dim or None, keepdims=keepdim, promote_integers=False)


def _without_nan(x: Array) -> Array:
    return x if category(x.dtype) < 2 else jnp.where(x == x, x, 0)


def _product(x: Array, axis: int) -> Array:
    if category(x.dtype) < 2 or axis == 0:
        return _in_a_tree(x, axis)
    # Derivatives join what the tree split: fast along the first dimension only.
    moved = lambda x: _in_a_tree(jnp.moveaxis(x, axis, 0), 0)
    return derivative_rules(
        lambda x: _in_a_tree(x, axis),
        jvp=lambda primals, output, tangents: jax.jvp(moved, primals, tangents)[1],
        vjp=lambda primals, output, cotangent: jax.vjp(moved, *primals)[1](cotangent),
        name="product",
    )(x)


def _in_a_tree(x: Array, axis: int) -> Array:
    """The product along `axis`: eighths of it multiplied elementwise, and so on.

    XLA vectorises that, and derivatives cost a few times as much, not a pass for each element.
    """
    if x.shape[axis] == 0:
        return jnp.ones((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype)
    while (n := x.shape[axis]) > 1:
        parts = min(n, 8)
        *pieces, rest = lax.split(x, [n // parts] * parts + [n % parts], axis)
        while len(pieces) > 1:
            odd = pieces[2 * (len(pieces) // 2) :]
            pieces = [a * b for a, b in zip(pieces[::2], pieces[1::2], strict=False)] + odd
        x = lax.concatenate([pieces[0], rest], axis) if n % parts else pieces[0]
    return jnp.squeeze(x, axis)


@operator(promote=Promote.INT_TO_LONG, accepts=Accepts.NUMBER)
def trace(input: ArrayLike) -> Array:
    """Sum of the diagonal of a matrix.

    Shapes: `[m, n] -> []`. Dtypes: integers accumulate in int64.
    Errors: RuntimeError unless `input` has two dimensions.

    >>> functx.trace(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array(5., dtype=float32)
    """
    if input.ndim != 2:
        refuse(f"`input` must be a matrix, got {describe(input)}")
    return jnp.sum(jnp.diagonal(input), promote_integers=False)


@operator(promote=Promote.NONE, differentiable=False)
def count_nonzero(input: ArrayLike, dim: Dims = None) -> Array:
    """How many elements are not zero, over `dim` or over every dimension. NaN is not zero.

    Shapes: `[..., n, ...] -> [..., ...]`. Dtypes: int64.

    >>> print(functx.count_nonzero(jnp.asarray([[0, 1], [2, 3]]), dim=0))
    [1 2]
    """
    return jnp.sum(nonzero(input), axis=dim or None, dtype=available(LONG))
