"""Factorisations that end in finitely many steps or in eigenvalues: Cholesky, QR, eigh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, Autocast, operator, Promote, refuse, Requirement

from .cholesky_factors import cholesky_factor, positive_definite
from .hermitian_eigenvalues import hermitian_eigenvalues
from .matrix_arguments import check_matrices, from_triangle
from .orthogonal_triangular import complete_qr, QRResult, reduced_qr, triangle_of_qr
from .phases import with_free_phase


__all__ = ["cholesky", "eigh", "eigvalsh", "qr"]


def _positive_definite(*, A: Any, upper: bool, **_: Any) -> Iterator[Requirement]:
    if A.ndim > 1 and A.shape[-1]:
        yield positive_definite(A, upper=upper)


@operator(
    accepts=Accepts.LAPACK,
    requires=_positive_definite,
    checked_on_request=True,
    autocast_cpu=Autocast.FLOAT32,
)
def cholesky(A: ArrayLike, *, upper: bool = False) -> Array:
    """Cholesky factor: lower triangular $L$ with $A = L L^H$, or upper $U$ with $A = U^H U$.

    - `A`: Hermitian positive definite matrices, of which one triangle is read. The result keeps
      their dtype.
    - `upper`: whether to read the upper triangle and return $U$; else $L$.

    Shapes: `[..., n, n] -> [..., n, n]`.
    Gradients: Hermitian, as PyTorch's.
    Errors: RuntimeError unless matrices are square. Where `A` is not positive definite, the result
    is NaN, and a `LinAlgError` under `functx.debug.checked` and in `functx.debug.checking()`.

    >>> functx.linalg.cholesky(jnp.asarray([[4.0, 2.0], [2.0, 10.0]], "float32"))
    Array([[2., 0.],
           [1., 3.]], dtype=float32)
    """
    check_matrices(A, square=True)
    return cholesky_factor(A, upper=upper)


class EighResult(NamedTuple):
    """Eigenvalues `[..., n]`, ascending, and eigenvectors `[..., n, n]` in columns."""

    eigenvalues: Array
    eigenvectors: Array


# Eigenvalues are real, vectors not; hence `Promote.NONE`.
@operator(promote=Promote.NONE, accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def eigh(A: ArrayLike, UPLO: str = "L") -> EighResult:
    r"""Eigenvalues and eigenvectors of Hermitian matrices: $A = Q\, \mathrm{diag}(\lambda)\, Q^H$.

    - `A`: Hermitian matrices, of which one triangle is read.
    - `UPLO`: `"L"` reads the lower triangle of `A`, `"U"` the upper.

    Shapes: `A: [..., n, n]` gives `eigenvalues: [..., n]`, ascending, and
    `eigenvectors: [..., n, n]`, in columns.
    Dtypes: eigenvalues are real, eigenvectors have the dtype of `A`.
    Gradients: Hermitian, as PyTorch's. Eigenvectors are determined up to a phase, and have no
    derivative where eigenvalues coincide: it is infinite or NaN there. Functions that do not depend
    on the choice of eigenvectors have one: write them by `functx.linalg.hermitian_function`.
    Errors: RuntimeError unless matrices are square, for another `UPLO`, and under
    `functx.debug.checked` where a gradient depends on the phase.

    >>> functx.linalg.eigh(jnp.asarray([[2.0, 0.0], [0.0, 1.0]], "float32")).eigenvalues
    Array([1., 2.], dtype=float32)
    """
    vectors, values = lax.linalg.eigh(from_triangle(A, UPLO), symmetrize_input=False)
    return EighResult(values, *with_free_phase("linalg.eigh", vectors))


# Eigenvalues are real; hence `Promote.NONE`.
@operator(promote=Promote.NONE, accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def eigvalsh(A: ArrayLike, UPLO: str = "L") -> Array:
    """Eigenvalues of Hermitian matrices, ascending.

    - `A`: Hermitian matrices, of which one triangle is read.
    - `UPLO`: `"L"` reads the lower triangle of `A`, `"U"` the upper.

    Shapes: `[..., n, n] -> [..., n]`.
    Dtypes: real, as precise as `A`.
    Gradients: finite where eigenvalues coincide: the gradient is that of one of the bases of
    eigenvectors. Equal eigenvalues have no second derivative: that of their mean stands for it, so
    that derivatives of their sum are right, and those of all other values. Functions of all
    eigenvalues are `functx.linalg.hermitian_function`s.
    Errors: RuntimeError unless matrices are square, and for another `UPLO`.

    >>> functx.linalg.eigvalsh(jnp.asarray([[2.0, 0.0], [0.0, 1.0]], "float32"))
    Array([1., 2.], dtype=float32)
    """
    return hermitian_eigenvalues(from_triangle(A, UPLO))


@operator(accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def qr(A: ArrayLike, mode: Literal["reduced", "complete", "r"] = "reduced") -> QRResult:
    """QR decomposition: $A = Q R$ with orthonormal columns in $Q$ and an upper triangular $R$.

    - `A`: matrices, float32, float64 or complex. The factors keep their dtype.
    - `mode`: `"reduced"` gives k = min(m, n) columns of $Q$, `"complete"` all m, `"r"` none.

    Shapes: `A: [..., m, n]` gives `[..., m, k]` and `[..., k, n]`; with `mode="complete"`,
    `[..., m, m]` and `[..., m, n]`; with `mode="r"`, an empty `[0]` and `[..., k, n]`.
    Gradients: as in PyTorch, `mode="r"` has none, nor has `mode="complete"` where m > n, and
    differentiating is a RuntimeError. Elsewhere the first k columns of `A` must be linearly
    independent for a finite derivative.
    Errors: RuntimeError if `A` has fewer than 2 dimensions, and for another `mode`.

    >>> functx.linalg.qr(jnp.asarray([[0.0], [2.0]], "float32")).R.shape
    (1, 1)
    """
    check_matrices(A)
    if mode not in ("reduced", "complete", "r"):
        refuse(f"`mode` must be 'reduced', 'complete' or 'r', got {mode!r}")
    m, n = A.shape[-2:]
    if mode == "complete" and m > n:
        return QRResult(*complete_qr(A, "linalg.qr", "mode='complete'", "mode='reduced'"))
    if mode == "r":
        return QRResult(jnp.zeros((0,), A.dtype), triangle_of_qr(A))
    return QRResult(*reduced_qr(A))
