"""LU factors in one matrix, and exchanges of rows: samples, and references in NumPy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

from functx.testing.make import Make
from functx.testing.opinfo import Convention
from functx.testing.samples import call

from .triangular_matrices import dominant


def make_pivots(make: Make, *shape: int) -> jax.Array:
    """Exchanges of the rows of matrices `[..., m, n]`, each with a row below it or with itself."""
    *batch, m, n = shape
    first = np.arange(min(m, n))
    return make.put(make.rng.integers(first, m, (*batch, first.size)) + 1, "int32")


def small_pivots(make: Make, *shape: int) -> jax.Array:
    """Matrices `[..., m, n]` with pivots that are not zero, nor the largest of their columns."""
    U = np.asarray(dominant(make, *shape))
    k = min(shape[-2:])
    L = np.tril(make.rng.uniform(1.2, 1.5, (*shape[:-1], k)), -1) + np.eye(shape[-2], k)
    return make.put(L.astype(U.dtype) @ np.triu(U[..., :k, :]))


def packed_by_hand(A: Any) -> Any:
    """The factors of a matrix `[2, 2]` whose larger pivot is in its second row."""
    (a, b), (c, d) = A
    return jnp.stack([jnp.stack([c, d]), jnp.stack([a / c, b - a * d / c])]), jnp.asarray([2, 2])


def last_pivot_zero(make: Make, departure: str = "") -> Convention:
    return Convention(
        "the last pivot may be zero",
        call(make.put([[1.0, 2], [2, 4]])),
        like=packed_by_hand,
        through=lambda out: out[0],
        departure=departure,
    )


def np_lu_factor(A: Any, pivot: bool = True) -> Any:
    LU, pivots = np.array(A), np.zeros((*A.shape[:-2], min(A.shape[-2:])), np.int32)
    for at in np.ndindex(A.shape[:-2]):
        LU[at], pivots[at] = (scipy.linalg.lu_factor if pivot else np_eliminated)(A[at])
    return LU, pivots + 1


def np_eliminated(A: Any) -> Any:
    """Elimination without exchanges."""
    LU, k = np.array(A), min(A.shape)
    for j in range(k):
        LU[j + 1 :, j] /= LU[j, j]
        LU[j + 1 :, j + 1 :] -= LU[j + 1 :, j, None] * LU[j, j + 1 :]
    return LU, np.arange(k)


def np_unpacked(LU: Any) -> Any:
    k = min(LU.shape[-2:])
    below = np.tril(LU[..., :k], -1)
    return below + np.eye(*below.shape[-2:]).astype(LU.dtype), np.triu(LU[..., :k, :])


def np_permutation(pivots: Any, size: int) -> Any:
    """`P` of `A = P L U`: exchanges undone, the last one first."""
    P = np.broadcast_to(np.eye(size), (*pivots.shape[:-1], size, size)).copy()
    for at in np.ndindex(pivots.shape[:-1]):
        for i in reversed(range(pivots.shape[-1])):
            j = pivots[at][i] - 1
            P[at][[i, j]] = P[at][[j, i]]
    return P


def np_product(LU: Any, pivots: Any) -> Any:
    """The matrix whose factors these are."""
    L, U = np_unpacked(LU)
    return np_permutation(pivots, LU.shape[-2]).astype(LU.dtype) @ L @ U
