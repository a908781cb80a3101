"""Norms of what a mask keeps, and vectors scaled by them."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    axes_of,
    Dims,
    DType,
    Mask,
    operator,
    Promote,
    RealFitting,
)
from functx._core.context.user_contexts import showing_singular
from functx._ops.quotients import quotient
from functx._ops.reductions.power_norms import vector_norm

from .masks import filled, kept


__all__ = ["norm", "normalize"]


@operator(promote=Promote.COMPLEX_TO_FLOAT, accepts=Accepts.INEXACT, narrowing=False)
def norm(
    input: ArrayOnly,
    ord: float = 2.0,  # static: it chooses how to compute
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    r"""Norm over dimensions of the elements where `mask` is True, as one vector.

    That is $\big(\sum_i |x_i|^p\big)^{1/p}$, p = `ord`: any real number, as of
    `functx.linalg.vector_norm`, whose derivatives it has.

    Where all are masked out, it is 0, and for negative `ord` infinite, since less is left of
    the sum (PyTorch takes what is masked out for zeros, so that other negative norms than
    `ord=-inf` are 0). What is masked out has gradient 0, whatever it holds.

    Shapes: as `functx.sum`'s; `mask` broadcasts to the input. Dtypes: real; computed in `dtype`, if
    given, which is as wide as the input's or wider. `mask` is True where it is not 0.
    Errors: RuntimeError where `ord` is negative or infinite and an array has no elements, or if
    `mask` does not broadcast to it.

    >>> mask = jnp.asarray([True, True, False])
    >>> functx.masked.norm(jnp.asarray([3.0, -4.0, 9.0], "float32"), mask=mask)
    Array(5., dtype=float32)
    """
    axes, keep = axes_of(dim, input.ndim), kept(input, mask)
    out = vector_norm(filled(input, keep, np.inf if ord < 0 else 0), float(ord), axes, keep)
    return jnp.expand_dims(out, axes) if keepdim else out


@operator(accepts=Accepts.INEXACT, narrowing=False)
def normalize(
    input: ArrayOnly,
    ord: float,  # static: it chooses how to compute the norm
    dim: Dims,
    *,
    eps: RealFitting = 1e-12,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    r"""Divides by the norm along `dim` of the elements where `mask` is True; the others become 0.

    That is $y = x / \max(\lVert x \rVert_p, \epsilon)$, p = `ord`, with the norm that
    `functx.masked.norm` computes. Where the two are equal, both have half the gradient. What is
    masked out has gradient 0, whatever it holds.

    Shapes: the input's; `mask` broadcasts to it. Dtypes: floating or complex; computed in `dtype`,
    if given, which is as wide as the input's or wider (halves in float32, where PyTorch rounds
    `eps` and the norm to halves). `mask` is True where it is not 0.
    Errors: as `functx.masked.norm`'s.

    >>> mask = jnp.asarray([True, True, False])
    >>> functx.masked.normalize(jnp.asarray([3.0, -4.0, 9.0], "float32"), 2, 0, mask=mask)
    Array([ 0.6, -0.8,  0. ], dtype=float32)
    """
    axes, keep = axes_of(dim, input.ndim), kept(input, mask)
    with showing_singular(False):  # a norm of 0 is less than eps, and constant
        size = vector_norm(filled(input, keep, np.inf if ord < 0 else 0), float(ord), axes, keep)
    size = jnp.maximum(jnp.expand_dims(size, axes), jnp.asarray(eps, size.dtype))
    return quotient(filled(input, keep, 0), size)
