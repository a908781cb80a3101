"""Logarithms of sums of exponentials of what a mask keeps."""

from __future__ import annotations

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
)
from functx._ops.reductions.log_sums import log_sum_exp

from .masks import filled, kept


__all__ = ["logsumexp"]


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
