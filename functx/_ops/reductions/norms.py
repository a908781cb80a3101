"""Norms of vectors and matrices."""

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

from .nuclear import nuclear_norm
from .power_norms import vector_norm


__all__ = ["norm"]


@operator(
    promote=Promote.COMPLEX_TO_FLOAT,
    accepts=Accepts.INEXACT,
    dtype_may_narrow=False,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def norm(
    input: ArrayLike,
    p: float | str | None = "fro",  # static: it chooses how to compute
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Array:
    r"""Norm of `input` over `dim`, or of all elements as one vector: $(\sum_i |x_i|^p)^{1/p}$.

    - `p`: a number; `inf` and `-inf` for the largest and smallest $|x_i|$, 0 for the number of
      elements that are not zero; `"fro"`, the default, or `None` for 2; `"nuc"` for the sum of the
      singular values of the matrices in the two dimensions `dim`.
    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `keepdim`: whether reduced dimensions stay with size 1.
    - `dtype`: the dtype of computation, as wide as that of `input` or wider.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: floating or complex; complex gives real.
    Gradients: 0 for elements that are 0, and for all where the norm is 0; the largest or smallest
    elements share theirs evenly. Where `"nuc"` is not differentiable, the gradient is the polar
    factor $U V^H$ that the singular value decomposition gives. Where the second derivative is
    infinite, as at 0, 0 stands for it (PyTorch has NaN): for the square of a norm write
    `functx.square(x).sum()`.
    Errors: RuntimeError for an unknown `p`, for `"nuc"` without two dimensions, for `"fro"` over
    more than two, and where an empty dimension has no norm (`inf` and negative `p`); TypeError for
    integers.

    >>> functx.norm(jnp.asarray([[3.0, 4.0], [6.0, 8.0]], "float32"), dim=1)
    Array([ 5., 10.], dtype=float32)
    """
    axes = axes_of(dim, input.ndim)
    if p == "nuc":
        if len(axes) != 2 or dim == ():
            refuse(f"`dim` must name the two dimensions of a matrix, got {dim}")
        out = nuclear_norm(jnp.moveaxis(input, axes, (-2, -1)))
        return jnp.expand_dims(out, axes) if keepdim else out
    if isinstance(p, str) and p != "fro":
        refuse(f"`p` must be a number, 'fro' or 'nuc', got {p!r}")
    if p == "fro" and dim and len(axes) > 2:
        refuse(f"`dim` must name at most two dimensions for p='fro', got {dim}")
    out = vector_norm(input, 2 if p is None or p == "fro" else p, axes)
    return jnp.expand_dims(out, axes) if keepdim else out
