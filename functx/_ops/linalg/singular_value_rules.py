"""The reduced singular value decomposition, with its derivatives."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core.rules import derivative_rules

from .matrix_arguments import adjoint, nan_beside_infinities


def decomposed(
    A: Array, algorithm: lax.linalg.SvdAlgorithm = lax.linalg.SvdAlgorithm.DEFAULT
) -> tuple[Array, Array, Array]:
    """The reduced decomposition, with its derivative rules."""

    def forward(A: Array) -> tuple[Array, Array, Array]:
        A = nan_beside_infinities(A)
        U, S, Vh = lax.linalg.svd(A, full_matrices=False, algorithm=algorithm)
        return U, S, Vh

    return derivative_rules(forward, jvp=_jvp, vjp=_vjp, name="linalg.svd")(A)


def singular_values(
    A: Array, algorithm: lax.linalg.SvdAlgorithm = lax.linalg.SvdAlgorithm.DEFAULT
) -> Array:
    """The singular values, for which the vectors are computed only under differentiation."""

    def forward(A: Array) -> Array:
        A = nan_beside_infinities(A)
        return lax.linalg.svd(A, compute_uv=False, algorithm=algorithm)

    def jvp(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Array:
        return moved_values(*primals, *tangents, algorithm)

    return derivative_rules(forward, jvp=jvp, name="linalg.svdvals")(A)


def moved_values(
    A: Array, dA: Array, algorithm: lax.linalg.SvdAlgorithm = lax.linalg.SvdAlgorithm.DEFAULT
) -> Array:
    """The tangent of the singular values."""
    U, _, Vh = decomposed(A, algorithm)
    return _values_tangent(U, Vh, dA)


def completed(U: Array) -> Array:
    """Orthonormal columns, and constant ones that make them a basis."""
    m, k = U.shape[-2:]
    if m == k:
        return U
    basis, _ = lax.linalg.qr(lax.stop_gradient(U), full_matrices=True)
    return jnp.concatenate([U, basis[..., k:]], axis=-1)


def _values_tangent(U: Array, Vh: Array, dA: Array) -> Array:
    return jnp.real(jnp.einsum("...ji,...jk,...ik->...i", jnp.conj(U), dA, jnp.conj(Vh)))


def _jvp(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Any:
    return _tangent(output, jnp.zeros((), bool), *tangents)


def _vjp(primals: tuple[Any], output: Any, cotangent: Any) -> Any:
    """The transpose, in which no infinity meets the zeros of vectors that are not used."""
    dU, _, dVh = cotangent
    unused = ~(jnp.any(dU != 0, axis=(-2, -1)) | jnp.any(dVh != 0, axis=(-2, -1)))
    pull = jax.linear_transpose(lambda dA: _tangent(output, unused, dA), *primals)
    return pull(tuple(cotangent))


def _tangent(output: Any, finite: Array, dA: Array) -> tuple[Array, Array, Array]:
    r"""Tangents of $U, S, V^H$; with `finite`, those of the vectors stay finite.

    From $U^H dA\, V = \Omega S + dS - S \Psi$ with skew $\Omega = U^H dU$, $\Psi = V^H dV$, split
    into its Hermitian part, divided by differences of singular values, and its skew part,
    divided by sums: where singular values coincide only the former is infinite.
    """
    U, s, Vh = output
    V = adjoint(Vh)
    M = adjoint(U) @ dA @ V
    same = jnp.eye(s.shape[-1], dtype=bool)
    s = s.astype(M.dtype)
    differences = s[..., None, :] - s[..., :, None]
    sums = s[..., None, :] + s[..., :, None]
    everywhere = finite[..., None, None]
    turn = (M + adjoint(M)) / 2 / divisor(differences, same | everywhere)
    turn = jnp.where(same, 0, turn)
    # Real matrices have nothing on this diagonal, whatever its divisor.
    twist = (M - adjoint(M)) / 2 / divisor(sums, everywhere | (same & jnp.isrealobj(M)))
    dU, dV = U @ (turn + twist), V @ (turn - twist)
    lengths = divisor(s, finite[..., None])[..., None, :]
    if U.shape[-2] > s.shape[-1]:
        dU += _outside(U, dA @ V) / lengths
    if V.shape[-2] > s.shape[-1]:
        dV += _outside(V, adjoint(dA) @ U) / lengths
    return dU, _values_tangent(U, Vh, dA), adjoint(dV)


def _outside(U: Array, x: Array) -> Array:
    """What of `x` is orthogonal to the columns of `U`."""
    return x - U @ (adjoint(U) @ x)


def divisor(x: Array, finite: Array) -> Array:
    """`x`, but 1 instead of a 0 that `finite` forbids."""
    return jnp.where((x == 0) & finite, 1, x)
