"""Sums, products and means of the elements that a mask keeps."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array

from functx._core import (
    ArrayOnly,
    Autocast,
    available,
    axes_of,
    category,
    Dims,
    DType,
    LONG,
    Mask,
    operator,
    Promote,
    rounded_first,
)
from functx._ops.quotients import mean as mean_of, quotient
from functx._ops.reductions.totals import product, refuse_integers, total

from .masks import filled, kept


__all__ = ["mean", "prod", "sum"]


@operator(promote=Promote.INT_TO_LONG)
def sum(
    input: ArrayOnly,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    """Sum of the elements where `mask` is True.

    - `input`: an array of any dtype.
    - `dim`: the dimensions that are summed over, one or several; None is all.
    - `keepdim`: whether these dimensions stay, with size 1.
    - `dtype`: the dtype to which `input` is cast first, and that of the result. None is that of
      `input`, and int64 for bools and integers.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Where all elements are masked out, the result is 0.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Gradients: 0 for masked elements, whatever they hold.
    Errors: RuntimeError if `mask` does not broadcast to `input`, IndexError for dimensions that
    `input` does not have.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.sum(jnp.asarray([1.0, 2.0, 4.0], "float32"), mask=mask)
    Array(5., dtype=float32)
    """
    input = rounded_first(input, dtype)
    return total(filled(input, kept(input, mask), 0), dim, bool(keepdim))


@operator(promote=Promote.INT_TO_LONG, autocast=Autocast.FLOAT32)
def prod(
    input: ArrayOnly,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    """Product of the elements where `mask` is True.

    - `input`: an array of any dtype.
    - `dim`: the dimensions that are multiplied over, one or several; None is all.
    - `keepdim`: whether these dimensions stay, with size 1.
    - `dtype`: the dtype to which `input` is cast first, and that of the result. None is that of
      `input`, and int64 for bools and integers. PyTorch has int64 for every integer dtype given.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Where all elements are masked out, the result is 1.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Gradients: 0 for masked elements, whatever they hold; exact at zeros, since no derivative
    divides.
    Errors: RuntimeError if `mask` does not broadcast to `input`, IndexError for dimensions that
    `input` does not have.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.prod(jnp.asarray([3.0, 0.0, 4.0], "float32"), mask=mask)
    Array(12., dtype=float32)
    """
    input = rounded_first(input, dtype)
    input = filled(input, kept(input, mask), 1)
    axes = axes_of(dim, input.ndim)
    if category(input.dtype) == 0:
        return jnp.all(input, axis=axes, keepdims=bool(keepdim))
    if not axes:
        return input
    front = jnp.moveaxis(input, axes, range(len(axes)))
    reduced, rest = front.shape[: len(axes)], front.shape[len(axes) :]
    out = product(front.reshape(math.prod(reduced), *rest), 0)
    return jnp.expand_dims(out, axes) if keepdim else out


@operator()
def mean(
    input: ArrayOnly,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    """Mean of the elements where `mask` is True.

    - `input`: an array of any dtype.
    - `dim`: the dimensions that are averaged over, one or several; None is all.
    - `keepdim`: whether these dimensions stay, with size 1.
    - `dtype`: a floating or complex dtype, to which `input` is cast first, and that of the result.
      None is that of `input`; bools and integers need one.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Where all elements are masked out, the result is NaN.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Gradients: 0 for masked elements, whatever they hold.
    Errors: TypeError if the dtype, given or not, is neither floating nor complex; RuntimeError if
    `mask` does not broadcast to `input`; IndexError for dimensions that `input` does not have.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.mean(jnp.asarray([1.0, 2.0, 5.0], "float32"), mask=mask)
    Array(3., dtype=float32)
    """
    refuse_integers(input)
    input = rounded_first(input, dtype)
    keep = kept(input, mask)
    if keep is None:
        return mean_of(input, dim or None, keepdims=bool(keepdim))
    count = jnp.sum(keep, dim or None, dtype=available(LONG), keepdims=bool(keepdim))
    out = quotient(total(filled(input, keep, 0), dim, bool(keepdim)), jnp.maximum(count, 1))
    return jnp.where(count == 0, jnp.nan, out)
