"""The reduced singular value decomposition, with its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core.rules import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint, nan_beside_infinities
from .phases import with_free_phase
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

    def forward(A: Array) -> Array:
        A = nan_beside_infinities(A)
        return lax.linalg.svd(A, compute_uv=False, algorithm=algorithm)

    def jvp(primals: tuple[Any], output: Any, tangents: tuple[Any]) -> Array:
        U, _, Vh = _bases(*primals, algorithm)
        return _values_tangent(U, Vh, *tangents)

    return derivative_rules(forward, jvp=jvp, name="linalg.svdvals")(A)


def _bases(A: Array, algorithm: lax.linalg.SvdAlgorithm) -> tuple[Array, Array, Array]:
    """The reduced decomposition, of which vectors of equal values do not turn to each other.

    Such turns are infinite. In the second derivative of one value that equals no other they have
    no part, nor in that of a sum of some that are equal, where each has both signs.
    """

    def forward(A: Array) -> tuple[Array, Array, Array]:
        U, S, Vh = lax.linalg.svd(
            nan_beside_infinities(A), full_matrices=False, algorithm=algorithm
        )
        return U, S, Vh

    def jvp(primals: Any, output: Any, tangents: Any) -> tuple[Array, Array, Array]:
        s = output[1]
        noise = jnp.finfo(s.dtype).eps * max(A.shape[-2:]) * jnp.max(s, -1, initial=0)

        def over(x: Array, by: Array) -> Array:
            none = jnp.abs(by) <= jnp.expand_dims(noise, range(noise.ndim, by.ndim))
            return jnp.where(none, 0, x / jnp.where(none, 1, by))

        return _moved(output, tangents[0], over)

    return derivative_rules(forward, jvp=jvp, name="linalg.svdvals")(A)


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
    """Tangents of $U, S, V^H$; with `finite`, those of the vectors stay finite."""

    def over(x: Array, by: Array) -> Array:
        return x / divisor(by, jnp.expand_dims(finite, range(finite.ndim, by.ndim)))

    return _moved(output, tangents[0], over)


def _moved(
    output: Any, dA: Array, over: Callable[[Array, Array], Array]
) -> tuple[Array, Array, Array]:
    r"""Tangents of $U, S, V^H$, where `over(x, y)` is $x / y$.

    From $U^H dA\, V = \Omega S + dS - S \Psi$ with skew $\Omega = U^H dU$, $\Psi = V^H dV$, split
    into its Hermitian part, divided by differences of singular values, and its skew part,
    divided by sums: where singular values coincide only the former is infinite.
    """
    U, s, Vh = output
    V = adjoint(Vh)
    M = product(adjoint(U), dA, V)
    same = jnp.eye(s.shape[-1], dtype=bool)
    s = s.astype(M.dtype)
    differences = s[..., None, :] - s[..., :, None]
    sums = s[..., None, :] + s[..., :, None]
    turn = over((M + adjoint(M)) / 2, jnp.where(same, 1, differences))
    turn = jnp.where(same, 0, turn)
    # Real matrices have nothing on this diagonal, whatever its divisor.
    nothing = same & jnp.isrealobj(M) & (sums == 0)
    twist = over((M - adjoint(M)) / 2, jnp.where(nothing, 1, sums))
    dU, dV = product(U, turn + twist), product(V, turn - twist)
    lengths = s[..., None, :]
    if U.shape[-2] > s.shape[-1]:
        dU += over(_outside(U, product(dA, V)), lengths)
    if V.shape[-2] > s.shape[-1]:
        dV += over(_outside(V, product(adjoint(dA), U)), lengths)
    return dU, _values_tangent(U, Vh, dA), adjoint(dV)


def _outside(U: Array, x: Array) -> Array:
    """What of `x` is orthogonal to the columns of `U`."""
    return x - product(U, product(adjoint(U), x))
