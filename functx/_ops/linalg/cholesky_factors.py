"""The Cholesky factor of Hermitian matrices, of which one triangle is read."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Requirement

from .matrix_arguments import adjoint, each_matrix, hermitian


def cholesky_factor(A: Array, *, upper: bool) -> Array:
    """The lower factor, or the upper one; NaN where `A` is not positive definite."""
    factor = _lower_factor(A, upper)
    return adjoint(factor) if upper else factor


def positive_definite(A: Array, *, upper: bool, name: str = "A") -> Requirement:
    """Each matrix has a Cholesky factor."""
    broken = jnp.isnan(_lower_factor(A, upper)).any((-2, -1))
    return each_matrix(~broken, "positive definite", name)


def _lower_factor(A: Array, upper: bool) -> Array:
    whole = hermitian(adjoint(A) if upper else A)
    return lax.linalg.cholesky(whole, symmetrize_input=False)
