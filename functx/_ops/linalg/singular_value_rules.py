"""The reduced singular value decomposition, with its derivatives."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import decided

from .full_precision import product
from .matrix_arguments import adjoint, nan_beside_infinities
from .phases import with_free_phase
from .spectral_frames import BLOCKS, OffDiagonalBlocks, RowsAndColumns
from .spectral_values import ruled_values
from .unused_vectors import divisor, with_vectors


def decomposed(
    A: Array, algorithm: lax.linalg.SvdAlgorithm = lax.linalg.SvdAlgorithm.DEFAULT
) -> tuple[Array, Array, Array]:
    """The reduced decomposition, with its derivative rules."""

    def forward(A: Array) -> tuple[Array, Array, Array]:
        A = nan_beside_infinities(A)
        U, S, Vh = lax.linalg.svd(A, full_matrices=False, algorithm=algorithm)
        return U, S, Vh

    U, S, Vh = with_vectors(forward, _tangent, values=1, name="linalg.svd")(A)
    U, V = with_free_phase("linalg.svd", U, adjoint(Vh))
    return U, S, adjoint(V)


def singular_values(
    A: Array, algorithm: lax.linalg.SvdAlgorithm = lax.linalg.SvdAlgorithm.DEFAULT
) -> Array:
    """The singular values, for which the vectors are computed only under differentiation."""

    def forward(A: OffDiagonalBlocks, known: tuple[()]) -> Array:
        matrix = nan_beside_infinities(A.upper)
        return lax.linalg.svd(matrix, compute_uv=False, algorithm=algorithm)

    def decomposition(A: OffDiagonalBlocks, known: tuple[()]) -> tuple[Array, RowsAndColumns]:
        matrix = nan_beside_infinities(A.upper)
        U, S, Vh = lax.linalg.svd(matrix, full_matrices=False, algorithm=algorithm)
        return S, RowsAndColumns(U, adjoint(Vh))

    values = ruled_values("linalg.svdvals", BLOCKS, forward, decomposition)
    return values(OffDiagonalBlocks(A, adjoint(A)), ())


def completed(U: Array) -> Array:
    """Orthonormal columns, and constant ones that make them a basis."""
    m, k = U.shape[-2:]
    if m == k:
        return U
    basis, _ = lax.linalg.qr(lax.stop_gradient(U), full_matrices=True)
    return jnp.concatenate([U, basis[..., k:]], axis=-1)


def _values_tangent(U: Array, Vh: Array, dA: Array) -> Array:
    return jnp.real(jnp.sum(jnp.conj(U) * product(dA, adjoint(Vh)), -2))


def _tangent(primals: Any, output: Any, tangents: Any, finite: Array) -> tuple[Array, Array, Array]:
    r"""Tangents of $U, S, V^H$; with `finite`, those of the vectors stay finite.

    From $U^H dA\, V = \Omega S + dS - S \Psi$ with skew $\Omega = U^H dU$, $\Psi = V^H dV$, split
    into its Hermitian part, divided by differences of singular values, and its skew part,
    divided by sums: where singular values coincide only the former is infinite.
    """
    (U, s, Vh), (dA,) = output, tangents
    V = adjoint(Vh)
    M = product(adjoint(U), dA, V)
    same = jnp.eye(s.shape[-1], dtype=bool)
    s = s.astype(M.dtype)
    differences = s[..., None, :] - s[..., :, None]
    sums = s[..., None, :] + s[..., :, None]
    everywhere = finite[..., None, None]
    turn = (M + adjoint(M)) / 2 / divisor(differences, same | everywhere)
    turn = jnp.where(same, 0, turn)
    # Real matrices have nothing on this diagonal, whatever its divisor.
    twist = (M - adjoint(M)) / 2 / divisor(sums, everywhere | (same & jnp.isrealobj(M)))
    dU, dV = product(U, turn + twist), product(V, turn - twist)
    lengths = divisor(s, finite[..., None])[..., None, :]
    if decided(lambda: U.shape[-2] > s.shape[-1], otherwise=True):
        dU += _outside(U, product(dA, V)) / lengths
    if decided(lambda: V.shape[-2] > s.shape[-1], otherwise=True):
        dV += _outside(V, product(adjoint(dA), U)) / lengths
    return dU, _values_tangent(U, Vh, dA), adjoint(dV)


def _outside(U: Array, x: Array) -> Array:
    """The part of `x` that is orthogonal to the columns of `U`."""
    return x - product(U, product(adjoint(U), x))
