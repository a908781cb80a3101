"""The Cholesky factor of Hermitian matrices, of which one triangle is read."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Requirement

from .lu_factors import eliminated
from .matrix_arguments import adjoint, each_matrix, hermitian


def cholesky_factor(A: Array, *, upper: bool) -> Array:
    """The lower factor, or the upper one; NaN where `A` is not positive definite."""
    factor = _lower_factor(A, upper)
    return adjoint(factor) if upper else factor


def positive_definite(A: Array, *, upper: bool, name: str = "A") -> Requirement:
    """Each matrix has a Cholesky factor."""
    broken = jnp.isnan(_lower_factor(A, upper)).any((-2, -1))
    return each_matrix(~broken, "positive definite", name)


def first_minor_not_positive(A: Array, factor: Array, *, upper: bool) -> Array:
    """The order of the first leading minor that is not positive, or 0 where there is a factor.

    It is the number of the first pivot of an elimination that is not positive, NaN included.
    """
    n = A.shape[-1]
    if n == 0:
        return jnp.zeros(A.shape[:-2], jnp.int32)
    failed = jnp.isnan(factor).any((-2, -1))

    def counted(A: Array) -> Array:
        whole = hermitian(adjoint(A) if upper else A)
        pivots = jnp.diagonal(eliminated(whole)[0], axis1=-2, axis2=-1)
        broken = ~(jnp.real(pivots) > 0)
        # Where rounding alone made the factor fail, it did so in the end.
        return jnp.where(broken.any(-1), jnp.argmax(broken, -1) + 1, n).astype(jnp.int32)

    orders = lax.cond(
        failed.any(), counted, lambda A: jnp.full_like(failed, n, jnp.int32), lax.stop_gradient(A)
    )
    return jnp.where(failed, orders, 0).astype(jnp.int32)


def _lower_factor(A: Array, upper: bool) -> Array:
    whole = hermitian(adjoint(A) if upper else A)
    return lax.linalg.cholesky(whole, symmetrize_input=False)
