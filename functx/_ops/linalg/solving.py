"""Solutions of linear systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, describe, operator, Promote, refuse, Requirement

from .matrix_arguments import check_matrices, each_matrix


__all__ = ["inv", "solve"]


def _nonsingular(*, A: Any, **_: Any) -> Iterator[Requirement]:
    if A.ndim > 1 and A.shape[-1]:
        pivots = jnp.diagonal(lax.linalg.lu(A)[0], axis1=-2, axis2=-1)
        yield each_matrix(jnp.all(pivots != 0, -1), "invertible")


@operator(promote=Promote.SAME, accepts=Accepts.LAPACK, requires=_nonsingular, on_request=True)
def solve(A: ArrayLike, B: ArrayLike, *, left: bool = True) -> Array:
    r"""Solution $X$ of the linear system $A X = B$, or of $X A = B$ if not `left`.

    Shapes: `A: [..., n, n]`, `B: [..., n, k]` (`[..., k, n]` if not `left`), whose leading
    dimensions broadcast, or vectors: `B: [n]`, or `[..., n]` as long as the batch of `A`.
    Where `A` is singular, the result is infinite or NaN, and a `LinAlgError` under
    `functx.debug.checked` and in `functx.debug.checking()`.

    >>> A = jnp.asarray([[2.0, 0.0], [0.0, 4.0]], "float32")
    >>> functx.linalg.solve(A, jnp.asarray([2.0, 2.0], "float32"))
    Array([1. , 0.5], dtype=float32)
    """
    check_matrices(A, square=True)
    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])
    if B.ndim == 0:
        refuse(f"`B` must have at least 1 dimension, got {describe(B)}")
    right = B[..., None] if vector else B
    if right.shape[-2 if left else -1] != A.shape[-1]:
        equation = "A X = B" if left else "X A = B"
        refuse(f"`A` and `B` do not fit {equation}, got {describe(A)} and {describe(B)}")
    out = jnp.linalg.solve(A, right) if left else jnp.linalg.solve(A.mT, right.mT).mT
    return out[..., 0] if vector else out


@operator(accepts=Accepts.LAPACK, aliases=("inverse",), requires=_nonsingular, on_request=True)
def inv(A: ArrayLike) -> Array:
    r"""Inverse matrix: $A^{-1} A = I$.

    Shapes: `A: [..., n, n]` gives `[..., n, n]`.
    Where `A` is singular, the result is infinite or NaN, and a `LinAlgError` under
    `functx.debug.checked` and in `functx.debug.checking()`.

    >>> functx.linalg.inv(jnp.asarray([[2.0, 0.0], [0.0, 4.0]], "float32"))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    check_matrices(A, square=True)
    return jnp.linalg.solve(A, jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape))
