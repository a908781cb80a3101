r"""Pseudoinverses and their derivative.

It is that at constant rank (Golub and Pereyra, "The differentiation of pseudo-inverses and
nonlinear least squares problems whose variables separate", 1973).
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import decided
from functx._core.rules.custom_derivatives import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint, hermitian, nan_beside_infinities
from .tolerances import not_negligible


def pseudoinverse(A: Array, atol: Array, rtol: Array, *, of_hermitian: bool = False) -> Array:
    """The pseudoinverse of each matrix, whose batch and the tolerances broadcast."""
    if A.size == 0:
        return A.mT
    *batch, m, n = A.shape
    shape = jnp.broadcast_shapes(tuple(batch), atol.shape, rtol.shape)
    if of_hermitian:
        A = _whole(A)
    A = jnp.broadcast_to(A, (*shape, m, n))
    atol, rtol = jnp.broadcast_to(atol, shape), jnp.broadcast_to(rtol, shape)
    # The rule below multiplies matrices as large as the second dimension.
    if decided(lambda: m < n, otherwise=False):
        return adjoint(_of_svd(adjoint(A), atol, rtol))
    return (_of_eigh if of_hermitian else _of_svd)(A, atol, rtol)


def _by_svd(A: Array, atol: Array, rtol: Array) -> Array:
    U, S, Vh = lax.linalg.svd(nan_beside_infinities(A), full_matrices=False)
    return product(adjoint(Vh) * _inverses(S, S, atol, rtol, A.dtype), adjoint(U))


def _by_eigh(A: Array, atol: Array, rtol: Array) -> Array:
    vectors, values = lax.linalg.eigh(nan_beside_infinities(A), symmetrize_input=False)
    inverses = _inverses(values, jnp.abs(values), atol, rtol, A.dtype)
    return product(vectors * inverses, adjoint(vectors))


def _inverses(values: Array, sizes: Array, atol: Array, rtol: Array, dtype: Any) -> Array:
    """The inverses of what is large enough, as a row; 0 for the others."""
    kept = not_negligible(sizes, atol, rtol)
    inverses = jnp.where(kept, 1 / jnp.where(kept, values, 1), 0)
    return inverses[..., None, :].astype(dtype)


def _tangent(primals: tuple[Any, ...], P: Any, tangents: tuple[Any, ...]) -> Array:
    """The formula of Golub and Pereyra, for matrices that are not wide."""
    A, dA = primals[0], adjoint(tangents[0])
    left = product(product(P, adjoint(P)), dA)
    right = product(dA, adjoint(P), P)
    return (
        -product(P, tangents[0], P)
        + (left - product(left, A, P))
        + (right - product(product(P, A), right))
    )


# PyTorch differentiates as if all of the matrix were read.
_whole = derivative_rules(hermitian, jvp=lambda primals, output, tangents: tangents[0])
_of_svd = derivative_rules(_by_svd, jvp=_tangent, name="linalg.pinv")
_of_eigh = derivative_rules(_by_eigh, jvp=_tangent, name="linalg.pinv")
