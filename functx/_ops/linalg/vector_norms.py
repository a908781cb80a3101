"""Norms of vectors."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    axes_of,
    Dims,
    DType,
    operator,
    Promote,
    refuse,
)
from functx._ops.reductions.power_norms import vector_norm as norm_of_vectors


__all__ = ["vector_norm"]


@operator(
    promote=Promote.COMPLEX_TO_FLOAT,
    accepts=Accepts.INEXACT,
    dtype_may_narrow=False,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def vector_norm(
    x: ArrayLike,
    ord: float = 2,  # static: it chooses how to compute
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Array:
    r"""Norm over dimensions, taken as one vector: $\big(\sum_i |x_i|^p\big)^{1/p}$, p = `ord`.

    - `x`: an array of any floating or complex dtype.
    - `ord`: any real number. `inf` and `-inf` give the largest and the smallest magnitude, 0 the
      number of elements that are not zero.
    - `dim`: the dimensions that are reduced, one or several; None and an empty sequence are all.
    - `keepdim`: whether these dimensions stay, with size 1.
    - `dtype`: the dtype in which the norm is computed, as wide as that of `x` or wider. None is
      that of `x`.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: real.
    Gradients: 0 where the norm is 0, and for elements that are 0; the elements that are largest (or
    smallest) share the gradient evenly. Where the second derivative is infinite, as at 0, 0 stands
    for it: instead of the square of a norm write `functx.square(x).sum()`.
    Errors: RuntimeError where `ord` is negative or infinite and there are no elements, TypeError
    for an `ord` that is no real number and a narrower `dtype`.

    >>> functx.linalg.vector_norm(jnp.asarray([3.0, -4.0], "float32"))
    Array(5., dtype=float32)
    """
    if isinstance(ord, (str, complex)):
        refuse(f"`ord` must be a real number, got {ord!r}", error=TypeError)
    axes = axes_of(dim, x.ndim)
    out = norm_of_vectors(x, float(ord), axes)
    return jnp.expand_dims(out, axes) if keepdim else out
