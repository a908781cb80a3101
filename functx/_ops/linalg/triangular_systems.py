"""Linear systems whose matrix is triangular, of which one triangle is read."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import decided, describe, refuse
from functx._core.rules import derivative_rules

from .full_precision import product


def with_common_batch(A: Array, B: Array, names: tuple[str, str] = ("A", "B")) -> list[Array]:
    """Two stacks of matrices with the same leading dimensions, by broadcasting."""
    try:
        batch = jnp.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    except ValueError:
        refuse(
            f"`{names[0]}` and `{names[1]}` must have leading dimensions that broadcast, "
            f"got {describe(A)} and {describe(B)}"
        )
    return [jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (A, B)]


def solved(
    A: Array,
    B: Array,
    *,
    upper: bool,
    left: bool = True,
    transpose: bool = False,
    conjugate: bool = False,
    unitriangular: bool = False,
) -> Array:
    r"""`X` of $A X = B$, or of $X A = B$ if not `left`, where `A` is first transposed, conjugated.

    Of `A` itself the `upper` or the lower triangle is read, without the diagonal if
    `unitriangular`. The two have the same leading dimensions.
    """
    strict = int(unitriangular)
    # The other triangle, masked here, has derivative zero, whatever a backend makes of it.
    read = jnp.triu(A, strict) if upper else jnp.tril(A, -strict)
    solve = ft.partial(
        lax.linalg.triangular_solve,
        left_side=left,
        lower=not upper,
        transpose_a=transpose,
        conjugate_a=conjugate,
        unit_diagonal=unitriangular,
    )
    rows, columns = B.shape[-2:]
    ordered = decided(lambda: rows > columns or True, otherwise=False)
    return (solve if ordered else _ruled(solve, left, transpose, conjugate))(read, B)


def _ruled(
    solve: Callable[[Array, Array], Array], left: bool, transpose: bool, conjugate: bool
) -> Callable[[Array, Array], Array]:
    """`solve` under a rule that does not ask, as JAX's does, whether `B` has more rows than columns."""

    def jvp(primals: tuple[Any, ...], X: Array, tangents: tuple[Any, ...]) -> Array:
        dA, dB = tangents
        dA = dA.mT if transpose else dA
        dA = jnp.conj(dA) if conjugate else dA
        return solve(primals[0], dB - (product(dA, X) if left else product(X, dA)))

    return derivative_rules(solve, jvp=jvp, name="triangular_solve")
