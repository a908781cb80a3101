"""Norms of the elements that a mask keeps, and vectors scaled by these norms."""

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
    RealArrayDtypeScalar,
)
from functx._core.context.user_contexts import showing_singular
from functx._ops.quotients import quotient
from functx._ops.reductions.power_norms import vector_norm

from .masks import filled, kept


__all__ = ["norm", "normalize"]


@operator(promote=Promote.COMPLEX_TO_FLOAT, accepts=Accepts.INEXACT, dtype_may_narrow=False)
def norm(
    input: ArrayOnly,
    ord: float = 2.0,  # static: it chooses how to compute
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    r"""Norm of the elements where `mask` is True, as one vector: $\big(\sum_i |x_i|^p\big)^{1/p}$.

    - `input`: an array of any floating or complex dtype.
    - `ord`: p, any real number: with 0 the number of nonzero elements, with inf the largest
      $|x_i|$, with -inf the smallest one.
    - `dim`: the dimensions that are reduced, one or several; None is all.
    - `keepdim`: whether these dimensions stay, with size 1.
    - `dtype`: the dtype in which the norm is computed, as wide as that of `input` or wider. None is
      that of `input`.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Where all elements are masked out, the norm is 0, and infinite for a negative `ord`, since less
    is left of the sum. PyTorch takes masked elements for zeros, so that its negative norms other
    than `ord=-inf` are 0.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: real, as precise as `input`, or as `dtype`.
    Gradients: those of `functx.linalg.vector_norm`; 0 for masked elements, whatever they hold.
    Errors: RuntimeError for an array without elements where `ord` is negative or infinite
    and if `mask` does not broadcast to `input`, TypeError for a narrower `dtype`.

    >>> mask = jnp.asarray([True, True, False])
    >>> functx.masked.norm(jnp.asarray([3.0, -4.0, 9.0], "float32"), mask=mask)
    Array(5., dtype=float32)
    """
    axes, keep = axes_of(dim, input.ndim), kept(input, mask)
    out = vector_norm(filled(input, keep, np.inf if ord < 0 else 0), float(ord), axes, keep)
    return jnp.expand_dims(out, axes) if keepdim else out


@operator(accepts=Accepts.INEXACT, dtype_may_narrow=False)
def normalize(
    input: ArrayOnly,
    ord: float,  # static: it chooses how to compute the norm
    dim: Dims,
    *,
    eps: RealArrayDtypeScalar = 1e-12,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    r"""Divides the elements where `mask` is True by their norm along `dim`; the others become 0.

    $y = x / \max(\lVert x \rVert_p, \epsilon)$.

    - `input`: an array of any floating or complex dtype.
    - `ord`: p, any real number: with 0 the norm counts nonzero elements, with inf it is the largest
      $|x_i|$, with -inf the smallest one.
    - `dim`: the dimensions of the vectors, one or several; None is all.
    - `eps`: $\epsilon$, a real number.
    - `dtype`: the dtype in which the result is computed, as wide as that of `input` or wider. None
      is that of `input`.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Shapes: those of `input`.
    Dtypes: that of `input`, or `dtype`. Halves are computed in float32, where PyTorch rounds `eps`
    and the norm to halves.
    Gradients: 0 for masked elements, whatever they hold. Where the norm equals `eps`, both have
    half the gradient.
    Errors: RuntimeError for an array without elements where `ord` is negative or infinite
    and if `mask` does not broadcast to `input`, TypeError for a narrower `dtype`.

    >>> mask = jnp.asarray([True, True, False])
    >>> functx.masked.normalize(jnp.asarray([3.0, -4.0, 9.0], "float32"), 2, 0, mask=mask)
    Array([ 0.6, -0.8,  0. ], dtype=float32)
    """
    axes, keep = axes_of(dim, input.ndim), kept(input, mask)
    with showing_singular(False):  # a norm of 0 is less than eps, and constant
        size = vector_norm(filled(input, keep, np.inf if ord < 0 else 0), float(ord), axes, keep)
    size = jnp.maximum(jnp.expand_dims(size, axes), jnp.asarray(eps, size.dtype))
    return quotient(filled(input, keep, 0), size)
