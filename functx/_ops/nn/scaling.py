"""Scaling to vectors of norm 1."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    axes_of,
    Dims,
    operator,
    RealArrayDtypeScalar,
)
from functx._core.context.user_contexts import showing_singular
from functx._ops.quotients import quotient
from functx._ops.reductions.power_norms import vector_norm


__all__ = ["normalize"]


@operator(accepts=Accepts.INEXACT, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def normalize(
    input: ArrayLike,
    p: float = 2.0,  # static: it chooses how to compute the norm
    dim: Dims = 1,
    eps: RealArrayDtypeScalar = 1e-12,
) -> Array:
    r"""Divides by the norm along `dim`: $y = x / \max(\lVert x \rVert_p, \epsilon)$.

    - `input`: $x$, a floating or complex array of any shape; the result has its shape and dtype.
    - `p`: the order of the norm.
    - `dim`: the dimension or dimensions along which the norm is computed; None means all together.
    - `eps`: $\epsilon$, the least divisor. NaN gives NaN.

    Gradients: where the norm is below `eps`, the derivative is $1/\epsilon$ times the identity.
    Errors: IndexError for a `dim` that does not exist, TypeError for dtypes that are not floating
    or complex.

    >>> functx.nn.functional.normalize(jnp.asarray([[3.0, 4.0]], "float32"))
    Array([[0.6, 0.8]], dtype=float32)
    """
    dims = axes_of(dim, input.ndim)
    with showing_singular(False):  # a norm of 0 is less than eps, and constant
        norm = jnp.expand_dims(vector_norm(input, p, dims), dims)
    return quotient(input, jnp.where((norm < eps) | (eps != eps), eps, norm))
