"""Diagonals of the matrices in the last two dimensions."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import ArrayLike, operator, Promote
from functx._ops.shape.planes import plane_of, read_diagonal


__all__ = ["diagonal"]


@operator(promote=Promote.NO_OPMATH)
def diagonal(A: ArrayLike, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    r"""The elements $a_{\ldots, i, i + \mathrm{offset}}$ of the matrices in two dimensions.

    - `A`: an array of any dtype, which the result keeps.
    - `offset`: which diagonal: 0 is the main one, 1 the one above it, -1 the one below.
    - `dim1`, `dim2`: the dimensions that are the matrices' rows and columns, by default the last
      ones.

    Shapes: `[..., m, n] -> [..., k]`: the two dimensions go, and that of the diagonal comes last.
    Errors: RuntimeError if `dim1` equals `dim2`, IndexError for dimensions that `A` does not have.

    >>> functx.linalg.diagonal(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"), offset=1)
    Array([2.], dtype=float32)
    """
    plane = plane_of(A.ndim, dim1, dim2, A)
    return read_diagonal(jnp.moveaxis(A, plane, (-2, -1)), offset)
