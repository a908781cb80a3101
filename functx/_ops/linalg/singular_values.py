"""The singular value decomposition."""

from __future__ import annotations

from typing import NamedTuple

import jax
from jax import Array, lax

from functx._core import Accepts, ArrayLike, operator, Promote, refuse

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


@operator(accepts=Accepts.LAPACK)
def svd(A: ArrayLike, full_matrices: bool = True, *, driver: str | None = None) -> SVDResult:
    r"""Singular value decomposition: $A = U \operatorname{diag}(S) V^H$.

    - `full_matrices`: completes the columns of `U` and the rows of `Vh` to bases. What is added
      is arbitrary, and counts as constant in derivatives.
    - `driver`: on a CUDA device only, `"gesvd"` or `"gesvdj"`.

    Shapes: `A: [..., m, n]` and k = min(m, n) give `[..., m, k]`, `[..., k]` descending and
    `[..., k, n]`; with `full_matrices`, `[..., m, m]`, `[..., k]` and `[..., n, n]`.
    Dtypes: `S` is real.

    A pair of singular vectors is determined up to a phase. Derivatives are those of functions
    that do not depend on it: others are refused under `functx.debug.checked`. Where singular
    values coincide or vanish, the vectors have no derivative, and what depends on them gets
    infinities or NaNs; `S` alone has one, and what does not depend on the choice of vectors: see
    `singular_value_function`, and `svdvals` for derivatives of `S` beyond the first.

    >>> functx.linalg.svd(jnp.asarray([[3.0, 0.0], [0.0, 4.0]], "float32")).S
    Array([4., 3.], dtype=float32)
    """
    check_matrices(A)
    U, S, Vh = decomposed(A, _algorithm(driver))
    if full_matrices:
        U, Vh = completed(U), adjoint(completed(adjoint(Vh)))
    return SVDResult(U, S, Vh)


@operator(promote=Promote.COMPLEX_TO_FLOAT, accepts=Accepts.LAPACK)
def svdvals(A: ArrayLike, *, driver: str | None = None) -> Array:
    """Singular values, descending.

    - `driver`: on a CUDA device only, `"gesvd"` or `"gesvdj"`.

    Shapes: `A: [..., m, n]` gives `[..., min(m, n)]`. Dtypes: real.
    Where some coincide they have no second derivative: that of their mean stands for it, so that
    derivatives of their sum are right, and those of all other values. It is 0 where they are 0.
    Sums of functions of all are `singular_value_sum`s.

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
