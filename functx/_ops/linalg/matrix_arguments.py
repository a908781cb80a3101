"""Checks of the matrices that operators take, their adjoints and their Hermitian parts."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import describe, refuse, Requirement
from functx._core.rules.custom_derivatives import derivative_rules


def check_matrices(A: Array, *, square: bool = False, name: str = "A") -> None:
    """Refuses what is not `[..., m, n]`, or not `[..., n, n]` if `square`."""
    if A.ndim < 2 or (square and A.shape[-2] != A.shape[-1]):
        wanted = "[..., n, n]" if square else "[..., m, n]"
        refuse(f"`{name}` must be {wanted}, got {describe(A)}")


class LinAlgError(np.linalg.LinAlgError, RuntimeError):
    """A matrix that is singular, or not positive definite: NumPy's error, and PyTorch's kind."""

    __module__ = "functx.linalg"


def each_matrix(ok: Array, wanted: str, name: str = "A") -> Requirement:
    """The requirement that `ok`, one bool for each matrix of a batch, holds for all of them."""
    number = jnp.arange(ok.size).reshape(ok.shape)
    message = f"`{name}` must be {wanted}, which matrix {{got}} is not"
    return Requirement(ok, message, got=number, error=LinAlgError)


def adjoint(A: Array) -> Array:
    r"""Conjugate transpose $A^H$ of each matrix."""
    return jnp.conj(A.mT)


def nan_beside_infinities(A: Array) -> Array:
    """`A`, with NaN in every matrix that holds an infinity, for which LAPACK never finds an SVD."""
    infinite = jnp.any(jnp.isinf(A), (-2, -1), keepdims=True)
    return jnp.where(infinite, jnp.nan, A)


def _lower_half(A: Array) -> Array:
    strict = jnp.tril(A, -1)
    diagonal = jnp.eye(A.shape[-1], dtype=bool)
    return strict + adjoint(strict) + jnp.where(diagonal, jnp.real(A), 0).astype(A.dtype)


# Reads one triangle, and spreads the gradient over both: PyTorch's convention for operators
# of Hermitian matrices, which may only be perturbed to Hermitian ones.
hermitian = derivative_rules(
    _lower_half,
    jvp=lambda primals, output, tangents: (tangents[0] + adjoint(tangents[0])) / 2,
    name="hermitian",
)


def from_triangle(A: Array, UPLO: str) -> Array:
    """The Hermitian matrix of which one triangle is given."""
    check_matrices(A, square=True)
    if UPLO not in ("L", "l", "U", "u"):
        refuse(f"`UPLO` must be 'L' or 'U', got {UPLO!r}")
    return hermitian(adjoint(A) if UPLO in "Uu" else A)
