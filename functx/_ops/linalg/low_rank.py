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
) -> LowRankSVD:
    r"""The largest singular values and their vectors: $A - M \approx U \operatorname{diag}(S) V^H$.

    The columns of $A$ are sampled by $q$ random combinations of them, the span of which is turned
    by `niter` steps towards the leading singular vectors; what of $A$ lies in it is decomposed
    (Halko, Martinsson and Tropp, 2009). Exact where the rank of $A - M$ is at most $q$.

    - `q`: how many, a slight overestimate of the rank; None is 6.
    - `niter`: the more steps, the nearer where singular values decay slowly; None is 2.
    - `M`: subtracted from `A`, to whose shape it is broadcast.

    Shapes: `A: [..., m, n]` and k = min(q, m, n) give `[..., m, k]`, `[..., k]` descending and
    `[..., n, k]`. Dtypes: `S` is real.

    The matrices of a batch are sampled by the same combinations. Where k is min(m, n), nothing is
    left to be sampled, and the result is that of `functx.svd`, of whose derivatives what its
    docstring says holds here too. Those of leading singular values are right also where the rank
    is less than $q$; PyTorch's are then inaccurate or NaN.

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
    A: ArrayLike, q: int | None = None, center: bool = True, niter: int = 2, *, key: Key = None
) -> LowRankSVD:
    r"""Principal components: `functx.svd_lowrank` of samples, in rows, less their mean.

    The columns of `V` are the principal directions, $S^2 / (m - 1)$ the variances along them.

    - `q`: how many; None is min(6, m, n), and more than min(m, n) is refused.
    - `center`: False leaves the mean where it is.
    - `niter`: the more steps, the nearer where singular values decay slowly.

    Shapes: `A: [..., m, n]` gives `[..., m, q]`, `[..., q]` descending and `[..., n, q]`.
    Dtypes: `S` is real.

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
