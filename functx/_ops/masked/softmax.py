"""Softmax and its kin of what a mask keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    category,
    Dim,
    DType,
    Mask,
    operator,
    refuse,
    rounded_first,
)
from functx._ops.nn.normalized_exponentials import log_probabilities, probabilities

from .masks import kept


__all__ = ["log_softmax", "softmax", "softmin"]


@operator(accepts=Accepts.REAL)
def softmax(
    input: ArrayOnly, dim: Dim, *, dtype: DType | None = None, mask: Mask | None = None
) -> Array:
    r"""Exponentials that sum to 1 along `dim`, of the elements where `mask` is True; others give 0.

    That is $y_i = e^{x_i} / \sum_j e^{x_j}$. Where all are masked out, it is NaN. What is masked
    out has gradient 0, whatever it holds.

    Shapes: the input's; `mask` broadcasts to it. Dtypes: floating; `dtype`, if given, is what the
    input is cast to first, which bools and integers need (of what is masked out, PyTorch then
    casts the least integer, which among small ones is none). `mask` is True where it is not 0.
    Errors: TypeError if the dtype, given or not, is not floating; RuntimeError if `mask` does not
    broadcast to the input.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.softmax(jnp.asarray([1.0, 2.0, 1.0], "float32"), 0, mask=mask)
    Array([0.5, 0. , 0.5], dtype=float32)
    """
    return _of_kept(probabilities, rounded_first(input, dtype), dim, mask)


@operator(accepts=Accepts.REAL)
def log_softmax(
    input: ArrayOnly, dim: Dim, *, dtype: DType | None = None, mask: Mask | None = None
) -> Array:
    r"""The logarithm of `functx.masked.softmax`, without overflow, with its arguments.

    That is $y_i = x_i - \log \sum_j e^{x_j}$; where `mask` is not True it is $-\infty$, with the
    derivatives of the sum alone.

    >>> mask = jnp.asarray([True, False])
    >>> functx.masked.log_softmax(jnp.asarray([1.0, 2.0], "float32"), 0, mask=mask)
    Array([  0., -inf], dtype=float32)
    """
    return _of_kept(log_probabilities, rounded_first(input, dtype), dim, mask)


@operator(accepts=Accepts.REAL)
def softmin(
    input: ArrayOnly, dim: Dim, *, dtype: DType | None = None, mask: Mask | None = None
) -> Array:
    r"""`functx.masked.softmax` of the negative, with its arguments: $e^{-x_i} / \sum_j e^{-x_j}$.

    Integers are cast before they are negated, so that none wraps, as in PyTorch some do.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.softmin(jnp.asarray([1.0, 2.0, 1.0], "float32"), 0, mask=mask)
    Array([0.5, 0. , 0.5], dtype=float32)
    """
    negated = lambda x, dim: probabilities(-x, dim)
    return _of_kept(negated, rounded_first(input, dtype), dim, mask, worst=np.inf)


def _of_kept(
    f: Callable[[Array, int], Array], x: Array, dim: int, mask: Any, worst: float = -np.inf
) -> Array:
    if category(x.dtype) != 2:
        refuse(
            f"expected a floating dtype, got {x.dtype.name}",
            hint="dtype=functx.float32 casts first",
            error=TypeError,
        )
    keep = kept(x, mask)
    if x.size == 0:
        return x
    shape, x = x.shape, jnp.atleast_1d(x)
    if keep is None:
        return f(x, dim).reshape(shape)
    keep = keep.reshape(x.shape)
    some = jnp.any(keep, dim, keepdims=True)
    # Of nothing it is a constant, so that not even NaN is a slope.
    out = f(jnp.where(keep, x, jnp.where(some, worst, 0)), dim)
    return jnp.where(some, out, jnp.nan).reshape(shape)
