"""Diagonals of matrices, which come last."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import ArrayLike, operator, Promote
from functx._ops.shape.planes import plane_of, read_diagonal


__all__ = ["diagonal"]


@operator(promote=Promote.NO_OPMATH)
def diagonal(A: ArrayLike, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """`functx.diagonal` of the matrices in the last dimensions, unless others are given.

    >>> functx.linalg.diagonal(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"), offset=1)
    Array([2.], dtype=float32)
    """
    plane = plane_of(A.ndim, dim1, dim2, A)
    return read_diagonal(jnp.moveaxis(A, plane, (-2, -1)), offset)
