"""Singular values and vectors of matrices of low rank, found in the span of a random sample."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    broadcasts_to,
    describe,
    Generator,
    Key,
    operator,
    Promote,
    refuse,
)

from .full_precision import product
from .matrix_arguments import adjoint, check_matrices
from .range_basis import range_basis
from .singular_value_rules import decomposed


__all__ = ["pca_lowrank", "svd_lowrank"]


class LowRankSVD(NamedTuple):
    """Singular vectors `U` and `V`, both in columns; singular values `S`, descending."""

    U: Array
    S: Array
    V: Array


@operator(name="svd_lowrank", promote=Promote.SAME, accepts=Accepts.LAPACK, random=True)
def svd_lowrank(
    A: ArrayLike,
    q: int | None = 6,
    niter: int | None = 2,
    M: ArrayOnly | None = None,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> LowRankSVD:
    r"""The largest singular values and their vectors: $A - M \approx U \operatorname{diag}(S) V^H$.

    The span of $q$ random combinations of the columns of $A$ is turned by `niter` steps towards the
    leading singular vectors, and the part of $A$ in that span is decomposed (Halko, Martinsson and
    Tropp, 2009). The result is exact where the rank of $A - M$ is at most $q$.

    - `A`: matrices, float32, float64 or complex.
    - `q`: how many singular values, a slight overestimate of the rank; None is 6.
    - `niter`: how many steps; more are nearer where singular values decay slowly. None is 2.
    - `M`: an array that is subtracted from `A`, to whose shape it broadcasts; None is 0.
    - `key`: a PRNG key for the random combinations; None draws one from the ambient generator.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes: `A: [..., m, n]` and k = min(q, m, n) give `[..., m, k]`, `[..., k]` descending and
    `[..., n, k]`.
    Dtypes: `S` is real.
    Gradients: where k is min(m, n), nothing is left to be sampled, and results and derivatives are
    those of `functx.svd`. Derivatives of leading singular values are right also where the rank is
    less than $q$; PyTorch's are then inaccurate or NaN.
    Errors: ValueError for a negative `q` and `niter` of 2**31 or more, RuntimeError if `M` does not
    broadcast to `A`.

    The matrices of a batch are sampled by the same combinations.

    >>> A = jnp.asarray([[3.0, 0.0], [4.0, 0.0], [0.0, 0.0]], "float32")
    >>> functx.svd_lowrank(A, q=1, key=jax.random.key(0)).S.round(3)
    Array([5.], dtype=float32)
    """
    check_matrices(A)
    q = 6 if q is None else q
    if q < 0:
        refuse(f"`q` must not be negative, got {q}", error=ValueError)
    if M is not None:
        if not broadcasts_to(M.shape, A.shape):
            refuse(f"`M` must broadcast to {describe(A)}, got {describe(M)}")
        A = A - M
    return _low_rank_svd(A, q, 2 if niter is None else niter, key)


@operator(name="pca_lowrank", accepts=Accepts.LAPACK, random=True)
def pca_lowrank(
    A: ArrayLike,
    q: int | None = None,
    center: bool = True,
    niter: int = 2,
    *,
    key: Key = None,
    generator: Generator | None = None,
) -> LowRankSVD:
    r"""Principal components: the largest singular values of samples, in rows, less their mean.

    The columns of `V` are the principal directions, $S^2 / (m - 1)$ the variances along them. The
    method is that of `functx.svd_lowrank` (Halko, Martinsson and Tropp, 2009).

    - `A`: matrices, float32, float64 or complex, with one sample in each row.
    - `q`: how many components; None is min(6, m, n).
    - `center`: whether the mean of the samples is subtracted.
    - `niter`: how many steps; more are nearer where singular values decay slowly.
    - `key`: a PRNG key for the random combinations; None draws one from the ambient generator.
    - `generator`: a `functx.Generator` to draw from, in place of `key`.

    Shapes: `A: [..., m, n]` gives `[..., m, q]`, `[..., q]` descending and `[..., n, q]`.
    Dtypes: `S` is real.
    Errors: ValueError for a `q` outside of $[0, \min(m, n)]$ and an `niter` outside of
    $[0, 2^{31})$.

    >>> A = jnp.asarray([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], "float32")
    >>> functx.pca_lowrank(A, q=1, key=jax.random.key(0)).S.round(3)
    Array([1.414], dtype=float32)
    """
    check_matrices(A)
    most = min(A.shape[-2:])
    q = min(6, most) if q is None else q
    if not 0 <= q <= most:
        refuse(
            f"`q` must be between 0 and {most}, as `A` is {describe(A)}, got {q}", error=ValueError
        )
    if niter < 0:
        refuse(f"`niter` must not be negative, got {niter}", error=ValueError)
    if center:
        A = A - jnp.mean(A, axis=-2, keepdims=True)
    return _low_rank_svd(A, q, niter, key)


def _low_rank_svd(A: Array, q: int, niter: int, key: Array) -> LowRankSVD:
    if niter >= 2**31:
        refuse(f"`niter` must be less than 2**31, got {niter}", error=ValueError)
    m, n = A.shape[-2:]
    if q >= min(m, n):
        U, S, Vh = decomposed(A)
        return LowRankSVD(U, S, adjoint(Vh))
    if m < n:
        V, S, U = _low_rank_svd(adjoint(A), q, niter, key)
        return LowRankSVD(U, S, V)
    Q = range_basis(product(A, jax.random.normal(key, (n, q), A.dtype)))
    if niter > 0:
        step = lambda _, Q: range_basis(product(A, range_basis(product(adjoint(A), Q))))
        Q = lax.fori_loop(0, niter, step, Q)
    U, S, Vh = decomposed(product(adjoint(Q), A))
    return LowRankSVD(product(Q, U), S, adjoint(Vh))
