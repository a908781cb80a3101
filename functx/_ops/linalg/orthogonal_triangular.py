"""QR decompositions, with derivatives where they have one."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array, lax
from jax.core import min_dim

from functx._core import decided, fail
from functx._core.rules.custom_derivatives import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint


class QRResult(NamedTuple):
    """Orthonormal columns `Q` and an upper triangular `R`."""

    Q: Array
    R: Array


def reduced_qr(A: Array) -> tuple[Array, Array]:
    """The factors; of a wide matrix, those of its square part determine the rest.

    `lax` has no derivative for the wide one.
    """
    m, n = A.shape[-2:]
    k = min_dim(m, n)
    Q, R = _factors(A[..., :k])
    if decided(lambda: n > m, otherwise=True):
        R = jnp.concatenate([R, product(adjoint(Q), A[..., k:])], axis=-1)
    return Q, R


def _factors_jvp(primals: Any, output: Any, tangents: Any) -> tuple[Array, Array]:
    # JAX's own rule, whose products are in no more than the precision of the moment.
    (Q, R), (dA,) = output, tangents
    change = lax.linalg.triangular_solve(R, dA)  # dA R^-1
    inner = product(adjoint(Q), change)
    lower = jnp.tril(inner, -1)
    turn = lower - adjoint(lower)
    if jnp.iscomplexobj(R):
        diagonal = jnp.eye(R.shape[-1], dtype=R.dtype)
        turn = turn + diagonal * (inner - inner.real.astype(inner.dtype))
    return product(Q, turn - inner) + change, product(inner - turn, R)


_factors = derivative_rules(
    lambda A: tuple(lax.linalg.qr(A, full_matrices=False)), jvp=_factors_jvp, name="linalg.qr"
)


def complete_qr(A: Array, who: str, option: str, instead: str) -> tuple[Array, Array]:
    """The factors of a tall matrix, with a basis of the whole space; not to be differentiated."""
    refusal = _refusal(
        who,
        f"{option} must not be differentiated for matrices with more rows than columns",
        f"their last columns of Q are arbitrary; {instead} leaves them out",
    )
    forward = lambda A: lax.linalg.qr(A, full_matrices=True)
    return derivative_rules(forward, jvp=refusal, name=who)(A)


def _refusal(who: str, message: str, hint: str) -> Any:
    def jvp(primals: Any, output: Any, tangents: Any) -> Any:
        fail(who, message, hint=hint)

    return jvp


def _triangle(A: Array) -> Array:
    m, n = A.shape[-2:]
    if decided(lambda: m < n or True, otherwise=False):
        return lax.linalg.qr(A, full_matrices=False)[1]
    return reduced_qr(A)[1]


triangle_of_qr = derivative_rules(
    _triangle,
    jvp=_refusal("linalg.qr", "mode='r' must not be differentiated", "take R of mode='reduced'"),
    name="linalg.qr",
)
