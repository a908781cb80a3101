"""Sums, products and means of what a mask keeps."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array

from functx._core import (
    ArrayOnly,
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
    """Sum over `dim`, or over every dimension, of the elements where `mask` is True.

    Where all are masked out, it is 0. What is masked out has gradient 0, whatever it holds.

    Shapes: as `functx.sum`'s; `mask` broadcasts to the input. Dtypes: bools and integers
    accumulate in int64; `dtype`, if given, wins: the input is cast first. `mask` is True where
    it is not 0.
    Errors: RuntimeError if `mask` does not broadcast to the input.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.sum(jnp.asarray([1.0, 2.0, 4.0], "float32"), mask=mask)
    Array(5., dtype=float32)
    """
    input = rounded_first(input, dtype)
    return total(filled(input, kept(input, mask), 0), dim, bool(keepdim))


@operator(promote=Promote.INT_TO_LONG)
def prod(
    input: ArrayOnly,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    """Product over `dim`, or over every dimension, of the elements where `mask` is True.

    Where all are masked out, it is 1. What is masked out has gradient 0, whatever it holds;
    other derivatives divide by none, so zeros are no exception.

    Shapes: as `functx.sum`'s; `mask` broadcasts to the input. Dtypes: bools and integers
    multiply in int64; `dtype`, if given, wins (where PyTorch has int64 for every integer one):
    the input is cast first. `mask` is True where it is not 0.
    Errors: RuntimeError if `mask` does not broadcast to the input.

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
    """Mean over `dim`, or over every dimension, of the elements where `mask` is True.

    Where all are masked out, it is NaN. What is masked out has gradient 0, whatever it holds.

    Shapes: as `functx.mean`'s; `mask` broadcasts to the input. Dtypes: floating or complex;
    integers need a `dtype`, to which the input is cast first. `mask` is True where it is not 0.
    Errors: TypeError if the dtype, given or not, is neither floating nor complex; RuntimeError
    if `mask` does not broadcast to the input.

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
