"""Eigenvalues, and which of them coincide: their second derivatives pass through eigenvectors."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core.rules import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint


def coinciding(values: Array) -> Array:
    """Which of them differ by rounding errors alone, each of each."""
    noise = jnp.finfo(values.dtype).eps * values.shape[-1]
    largest = jnp.max(jnp.abs(values), -1, keepdims=True, initial=0)[..., None]
    return jnp.abs(values[..., None, :] - values[..., :, None]) <= noise * largest


def hermitian_eigenvalues(A: Array) -> Array:
    """Those of a Hermitian matrix, ascending.

    Where some coincide, the second derivative of any other exists, as does that of the sum of
    those: what would be infinite in those of the vectors has no part in either, and counts as 0.
    """
    return _bases(A)[1]


def _computed(A: Array) -> tuple[Array, Array]:
    vectors, values = lax.linalg.eigh(A, symmetrize_input=False)
    return vectors, values


def _tangent(primals: Any, output: Any, tangents: Any) -> tuple[Array, Array]:
    (vectors, values), (dA,) = output, tangents
    M = product(adjoint(vectors), dA, vectors)
    equal = coinciding(values)
    gaps = jnp.where(equal, 1, values[..., None, :] - values[..., :, None])
    turn = jnp.where(equal, 0, M / gaps.astype(M.dtype))
    return product(vectors, turn), jnp.real(jnp.diagonal(M, axis1=-2, axis2=-1))


_bases = derivative_rules(_computed, jvp=_tangent, name="linalg.eigvalsh")
