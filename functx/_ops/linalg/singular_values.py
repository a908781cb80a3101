"""The singular value decomposition."""

from __future__ import annotations

from typing import NamedTuple

import jax
from jax import Array, lax

from functx._core import Accepts, ArrayLike, Autocast, operator, Promote, refuse

from .matrix_arguments import adjoint, check_matrices
from .singular_value_rules import completed, decomposed, singular_values


__all__ = ["svd", "svdvals"]

_ALGORITHMS = {
    None: lax.linalg.SvdAlgorithm.DEFAULT,
    "gesvd": lax.linalg.SvdAlgorithm.QR,
    "gesvdj": lax.linalg.SvdAlgorithm.JACOBI,
}


class SVDResult(NamedTuple):
    """Singular vectors `U`, in columns, and `Vh`, in rows; singular values `S`, descending."""

    U: Array
    S: Array
    Vh: Array


@operator(accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def svd(A: ArrayLike, full_matrices: bool = True, *, driver: str | None = None) -> SVDResult:
    r"""Singular value decomposition: $A = U \operatorname{diag}(S) V^H$.

    - `A`: matrices, float32, float64 or complex.
    - `full_matrices`: whether the columns of `U` and the rows of `Vh` are completed to bases. The
      vectors that are added are arbitrary, and count as constant in derivatives.
    - `driver`: on a CUDA device only, `"gesvd"` or `"gesvdj"`; None chooses.

    Shapes: `A: [..., m, n]` and k = min(m, n) give `U: [..., m, k]`, `S: [..., k]` descending and
    `Vh: [..., k, n]`; with `full_matrices`, `[..., m, m]`, `[..., k]` and `[..., n, n]`.
    Dtypes: `S` is real, the vectors have the dtype of `A`.
    Gradients: a pair of singular vectors is determined up to a phase, and derivatives are those of
    functions that do not depend on the phase. Where singular values coincide or vanish, vectors
    have no derivative, and what depends on them gets infinities or NaNs. `S` alone has one
    (`functx.linalg.svdvals` also beyond the first), and so have functions that do not depend on the
    choice of vectors: write them by `functx.linalg.singular_value_function`.
    Errors: RuntimeError if `A` has fewer than 2 dimensions, for another `driver`, and under
    `functx.debug.checked` where a gradient depends on the phase.

    >>> functx.linalg.svd(jnp.asarray([[3.0, 0.0], [0.0, 4.0]], "float32")).S
    Array([4., 3.], dtype=float32)
    """
    check_matrices(A)
    U, S, Vh = decomposed(A, _algorithm(driver))
    if full_matrices:
        U, Vh = completed(U), adjoint(completed(adjoint(Vh)))
    return SVDResult(U, S, Vh)


@operator(promote=Promote.COMPLEX_TO_FLOAT, accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def svdvals(A: ArrayLike, *, driver: str | None = None) -> Array:
    """Singular values of each matrix, descending.

    - `A`: matrices, float32, float64 or complex.
    - `driver`: on a CUDA device only, `"gesvd"` or `"gesvdj"`; None chooses.

    Shapes: `[..., m, n] -> [..., min(m, n)]`.
    Dtypes: real, as precise as `A`.
    Gradients: equal singular values have no second derivative: that of their mean stands for it, so
    that derivatives of their sum are right, and those of all other values. The second derivative is
    0 where singular values are 0. Sums of functions of all are `functx.linalg.singular_value_sum`s.
    Errors: RuntimeError if `A` has fewer than 2 dimensions, and for another `driver`.

    >>> functx.linalg.svdvals(jnp.asarray([[3.0, 0.0], [0.0, 4.0]], "float32"))
    Array([4., 3.], dtype=float32)
    """
    check_matrices(A)
    return singular_values(A, _algorithm(driver))


def _algorithm(driver: str | None) -> lax.linalg.SvdAlgorithm:
    if driver is not None and jax.default_backend() not in ("cuda", "gpu"):
        refuse("`driver` must be None on devices other than CUDA's", hint="leave it out")
    if driver not in _ALGORITHMS:
        refuse(f"`driver` must be None, 'gesvd' or 'gesvdj', got {driver!r}")
    return _ALGORITHMS[driver]
