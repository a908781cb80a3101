"""Logarithms of sums of exponentials over the elements that a mask keeps."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    ArrayOnly,
    axes_of,
    compute_and_result,
    converted,
    Dims,
    DType,
    Mask,
    operator,
    Promote,
    promoted,
    result_dtype,
    rounded_first,
)
from functx._ops.pointwise.larger import log_add_exp
from functx._ops.pointwise.operands import check_floating
from functx._ops.reductions.log_sums import log_sum_exp

from .masks import filled, kept


__all__ = ["logaddexp", "logsumexp"]


@operator(promote=Promote.NONE)
def logsumexp(
    input: ArrayOnly,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    r"""$\log \sum_i e^{x_i}$ over the elements where `mask` is True.

    - `input`: an array of any dtype.
    - `dim`: the dimensions that are summed over, one or several; None is all.
    - `keepdim`: whether these dimensions stay, with size 1.
    - `dtype`: the dtype of the result. None is that of `input`, in which the result of integers
      loses its fraction.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Where all elements are masked out, the result is $-\infty$, or the least integer.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Gradients: 0 for masked elements, whatever they hold, and for all where the result is infinite.
    Errors: RuntimeError if `mask` does not broadcast to `input`, IndexError for dimensions that
    `input` does not have.

    PyTorch counts masked elements of unsigned integers as zeros.

    >>> mask = jnp.asarray([True, False])
    >>> functx.masked.logsumexp(jnp.asarray([1.0, 1000.0], "float32"), 0, mask=mask)
    Array(1., dtype=float32)
    """
    compute, result = compute_and_result(Promote.INT_TO_FLOAT, input.dtype)
    x = filled(converted(input, compute), kept(input, mask), -np.inf)
    out = log_sum_exp(x, axes_of(dim, input.ndim), bool(keepdim))
    return converted(converted(out, result), dtype or input.dtype)


@operator(promote=Promote.NONE)
def logaddexp(
    input: ArrayOnly,
    other: ArrayOnly,
    *,
    dtype: DType | None = None,
    input_mask: Mask | None = None,
    other_mask: Mask | None = None,
) -> Array:
    r"""$\ln(e^x + e^{\mathrm{other}})$ of two arrays, as far as their masks keep elements.

    - `input`: the array $x$.
    - `other`: an array that broadcasts with `input`.
    - `dtype`: the dtype of the result. None is that of `input`.
    - `input_mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None
      keeps all.
    - `other_mask`: the same for `other`.

    Where one of two elements is masked out, the result is the other one; where both are, $-\infty$,
    or the least integer.

    Shapes: the two shapes broadcast.
    Dtypes: computed in the dtype to which both promote, which must be floating or complex.
    Gradients: 0 for masked elements, whatever they hold. Where both elements are the same infinity,
    the gradient goes to `input`.
    Errors: TypeError if the arrays promote to integers or bools, RuntimeError if a mask does not
    broadcast to its array.

    PyTorch counts masked elements of integers as the least integer, and those of unsigned integers
    as zero.

    >>> x, mask = jnp.asarray([0.0, 1.0], "float32"), jnp.asarray([True, False])
    >>> functx.masked.logaddexp(x, x, other_mask=mask).round(3)
    Array([0.693, 1.   ], dtype=float32)
    """
    common = result_dtype([input, other])
    check_floating(common)
    compute, _ = compute_and_result(Promote.DEFAULT, common)
    left = _kept(input, input_mask, "input_mask")
    right = _kept(other, other_mask, "other_mask")
    x, y = promoted(input, common, compute), promoted(other, common, compute)
    both = log_add_exp(filled(x, left, 0), filled(y, right, 0))
    one = jnp.where(left, x, jnp.where(right, y, -np.inf))
    out = rounded_first(jnp.where(left & right, both, one), common)
    return converted(out, dtype or input.dtype)


def _kept(x: Array, mask: Any, name: str) -> Array:
    """The mask of `x` as bools, True for all without one."""
    keep = kept(x, mask, name)
    return jnp.asarray(True) if keep is None else keep
