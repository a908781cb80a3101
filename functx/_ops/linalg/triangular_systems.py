"""Linear systems whose matrix is triangular, of which one triangle is read."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import decided, describe, refuse

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
    A: Array, B: Array, *, upper: bool, unitriangular: bool = False, **options: bool
) -> Array:
    r"""`X` of $A X = B$, or of $X A = B$ if not `left`, where `A` is first transposed, conjugated.

    Of `A` itself the `upper` or the lower triangle is read, without the diagonal if
    `unitriangular`. The two have the same leading dimensions. The other options are those of
    `solved_by_triangle`.
    """
    strict = int(unitriangular)
    # The other triangle, masked here, has derivative zero, whatever a backend makes of it.
    read = jnp.triu(A, strict) if upper else jnp.tril(A, -strict)
    return solved_by_triangle(read, B, upper=upper, unitriangular=unitriangular, **options)


def solved_by_triangle(
    A: Array,
    B: Array,
    *,
    upper: bool,
    left: bool = True,
    transpose: bool = False,
    conjugate: bool = False,
    unitriangular: bool = False,
) -> Array:
    """`solved`, for a matrix that is zero where it is not read."""

    def solve(B: Array, transpose: bool = transpose) -> Array:
        return lax.linalg.triangular_solve(
            A,
            B,
            left_side=left,
            lower=not upper,
            transpose_a=transpose,
            conjugate_a=conjugate,
            unit_diagonal=unitriangular,
        )

    rows, columns = B.shape[-2:]
    if decided(lambda: rows > columns or columns > rows or True, otherwise=False):
        return solve(B)
    # JAX's rule for `A` asks which is larger. This one knows the equation alone.
    whole = A + jnp.eye(A.shape[-1], dtype=A.dtype) if unitriangular else A
    whole = jnp.conj(whole) if conjugate else whole
    whole = whole.mT if transpose else whole
    return lax.custom_linear_solve(
        lambda X: product(whole, X) if left else product(X, whole),
        B,
        solve=lambda _, B: solve(B),
        transpose_solve=lambda _, B: solve(B, not transpose),
    )
