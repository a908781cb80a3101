"""Logarithms of sums of exponentials of what masks keep."""

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
    r"""$\log \sum_i e^{x_i}$ over `dim`, or all dimensions, of the elements where `mask` is True.

    Where all are masked out, it is $-\infty$, or the least integer. What is masked out has
    gradient 0, whatever it holds, and so has all where the result is infinite.

    Shapes: as `functx.logsumexp`'s; `mask` broadcasts to the input. Dtypes: the input's, so that of
    integers the result loses its fraction; it is cast to `dtype`, if given. `mask` is True where
    it is not 0.
    Of unsigned integers, PyTorch counts what is masked out as zeros.
    Errors: RuntimeError if `mask` does not broadcast to the input.

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
    r"""$\ln(e^x + e^{\mathrm{other}})$, broadcasting, of those of the two that their masks keep.

    Where one is masked out, that is the other; where both are, $-\infty$, or the least integer.
    What is masked out has gradient 0, whatever it holds. Where both are the same infinity, the
    gradient goes to `input`.

    Shapes: as `functx.logaddexp`'s; each mask broadcasts to the array before. Dtypes: computed in
    the common dtype, which must be floating or complex; the result is cast to `dtype`, or else to
    the input's. Masks are True where they are not 0.
    Of integers, PyTorch counts what is masked out as the least one, of unsigned ones as zero.
    Errors: TypeError if the common dtype is neither floating nor complex; RuntimeError if a mask
    does not broadcast to its array.

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
    keep = kept(x, mask, name)
    return jnp.asarray(True) if keep is None else keep
