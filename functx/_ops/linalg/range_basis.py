"""Orthonormal bases of the span of columns, with derivatives where columns are dependent."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax
from jax.core import max_dim

from functx._core import as_number
from functx._core.rules.custom_derivatives import derivative_rules

from .full_precision import product
from .matrix_arguments import adjoint


def _basis(X: Array) -> Array:
    return lax.linalg.qr(X, full_matrices=False)[0]


def _tangent(primals: tuple[Any], Q: Any, tangents: tuple[Any]) -> Array:
    r"""How the span turns: $(1 - Q Q^H)\, dX\, R^{-1}$, where the basis does not turn in itself.

    What a column adds to the span of those before it may be rounding alone. Its direction is
    then arbitrary, and counts as constant: dividing by it would drown what is determined.
    """
    (X,), (dX,) = primals, tangents
    R = product(adjoint(Q), X)
    added = lax.stop_gradient(jnp.abs(jnp.diagonal(R, axis1=-2, axis2=-1)))
    noise = jnp.finfo(added.dtype).eps * as_number(max_dim(*X.shape[-2:]), added.dtype)
    kept = added > noise * jnp.max(added, -1, keepdims=True, initial=0)
    kept = kept[..., :, None] & kept[..., None, :]
    solvable = jnp.where(kept, R, jnp.eye(R.shape[-1], dtype=R.dtype))
    moved = product(dX, jnp.where(kept, _inverse(solvable), 0))
    return moved - product(Q, adjoint(Q), moved)


def _inverse_of_triangle(R: Array) -> Array:
    identity = jnp.broadcast_to(jnp.eye(R.shape[-1], dtype=R.dtype), R.shape)
    return lax.linalg.triangular_solve(R, identity, left_side=True, lower=False)


# R is a triangle, but its tangent is none where the basis does not turn in itself.
_inverse = derivative_rules(
    _inverse_of_triangle,
    jvp=lambda primals, output, tangents: -product(output, tangents[0], output),
    name="inverse",
)

# Right for functions of the span alone: whose values any other basis of it would give as well.
range_basis = derivative_rules(_basis, jvp=_tangent, name="range_basis")
