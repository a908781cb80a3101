"""Softmax, its logarithm and softmin of the elements that a mask keeps."""

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
    r"""Softmax along `dim` of the elements where `mask` is True: $y_i = e^{x_i} / \sum_j e^{x_j}$.

    - `input`: an array of any real dtype.
    - `dim`: the dimension along which results sum to 1.
    - `dtype`: a floating dtype, to which `input` is cast first, and that of the result. None is
      that of `input`; bools and integers need one.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Masked elements give 0. Where all elements are masked out, the result is NaN.

    Shapes: those of `input`.
    Gradients: 0 for masked elements, whatever they hold.
    Errors: TypeError if the dtype, given or not, is not floating; RuntimeError if `mask` does not
    broadcast to `input`; IndexError if `input` does not have `dim`.

    With a `dtype`, PyTorch casts the least integer of masked elements, which among small integers
    is not masked out.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.softmax(jnp.asarray([1.0, 2.0, 1.0], "float32"), 0, mask=mask)
    Array([0.5, 0. , 0.5], dtype=float32)
    """
    return _of_kept(probabilities, rounded_first(input, dtype), dim, mask)


@operator(accepts=Accepts.REAL)
def log_softmax(
    input: ArrayOnly, dim: Dim, *, dtype: DType | None = None, mask: Mask | None = None
) -> Array:
    r"""Logarithm of the softmax along `dim` of the elements where `mask` is True, without overflow.

    $y_i = x_i - \log \sum_j e^{x_j}$.

    - `input`: an array of any real dtype.
    - `dim`: the dimension along which the exponentials of results sum to 1.
    - `dtype`: a floating dtype, to which `input` is cast first, and that of the result. None is
      that of `input`; bools and integers need one.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Masked elements give $-\infty$, with the derivatives of the sum alone. Where all elements are
    masked out, the result is NaN.

    Shapes: those of `input`.
    Errors: TypeError if the dtype, given or not, is not floating; RuntimeError if `mask` does not
    broadcast to `input`; IndexError if `input` does not have `dim`.

    >>> mask = jnp.asarray([True, False])
    >>> functx.masked.log_softmax(jnp.asarray([1.0, 2.0], "float32"), 0, mask=mask)
    Array([  0., -inf], dtype=float32)
    """
    return _of_kept(log_probabilities, rounded_first(input, dtype), dim, mask)


@operator(accepts=Accepts.REAL)
def softmin(
    input: ArrayOnly, dim: Dim, *, dtype: DType | None = None, mask: Mask | None = None
) -> Array:
    r"""Softmin along `dim` of the elements where `mask` is True.

    $y_i = e^{-x_i} / \sum_j e^{-x_j}$.

    - `input`: an array of any real dtype.
    - `dim`: the dimension along which results sum to 1.
    - `dtype`: a floating dtype, to which `input` is cast first, and that of the result. None is
      that of `input`; bools and integers need one. Integers are cast before they are negated, so
      that none wraps, as some do in PyTorch.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Masked elements give 0. Where all elements are masked out, the result is NaN.

    Shapes: those of `input`.
    Gradients: 0 for masked elements, whatever they hold.
    Errors: TypeError if the dtype, given or not, is not floating; RuntimeError if `mask` does not
    broadcast to `input`; IndexError if `input` does not have `dim`.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.softmin(jnp.asarray([1.0, 2.0, 1.0], "float32"), 0, mask=mask)
    Array([0.5, 0. , 0.5], dtype=float32)
    """
    negated = lambda x, dim: probabilities(-x, dim)
    return _of_kept(negated, rounded_first(input, dtype), dim, mask, worst=np.inf)


def _of_kept(
    f: Callable[[Array, int], Array], x: Array, dim: int, mask: Any, worst: float = -np.inf
) -> Array:
    """`f` along `dim` of the elements that `mask` keeps, and NaN where it keeps none."""
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
    # Where nothing is kept, the result is a constant, so that not even NaN is a slope.
    out = f(jnp.where(keep, x, jnp.where(some, worst, 0)), dim)
    return jnp.where(some, out, jnp.nan).reshape(shape)
