"""Linear systems of square matrices."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import describe, refuse, Requirement

from .lu_factors import factored, first_zero_pivot
from .matrix_arguments import check_matrices, each_matrix


def solution(A: Array, B: Array, *, left: bool) -> Array:
    """`X` of `A X = B`, or of `X A = B` if not `left`; of vectors `B`, vectors."""
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


def inverse(A: Array) -> Array:
    """The inverse of each matrix."""
    check_matrices(A, square=True)
    return jnp.linalg.solve(A, jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape))


def singular_at(A: Array) -> Array:
    """The number of the first pivot that is zero, counted from 1, or 0 if none is."""
    return first_zero_pivot(factored(A, pivot=True)[0])


def nonsingular(A: Array) -> Requirement:
    """Each matrix has an inverse."""
    return each_matrix(singular_at(A) == 0, "invertible")
