"""Solutions of triangular systems."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayLike, Autocast, describe, operator, Promote, refuse

from .matrix_arguments import check_matrices
from .triangular_systems import solved, with_common_batch


__all__ = ["solve_triangular", "triangular_solve"]


@operator(promote=Promote.SAME, accepts=Accepts.LAPACK)
def solve_triangular(
    A: ArrayLike, B: ArrayLike, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Array:
    r"""Solution $X$ of $A X = B$, or of $X A = B$ if not `left`, with a triangular $A$.

    - `A`: square matrices, of which one triangle is read, float32, float64 or complex.
    - `B`: the right-hand sides, of the dtype of `A`.
    - `upper`: which triangle of `A` is read. The other has a gradient of zeros.
    - `unitriangular`: takes the diagonal of `A` for ones, without reading it.

    Shapes: `A: [..., n, n]`, `B: [..., n, k]` (`[..., k, n]` if not `left`), whose leading
    dimensions broadcast, give a result like `B`. Where the diagonal holds a zero, it is infinite
    or NaN.

    >>> A = jnp.asarray([[1.0, 2.0], [0.0, 4.0]], "float32")
    >>> functx.linalg.solve_triangular(A, jnp.asarray([[4.0], [4.0]], "float32"), upper=True)
    Array([[2.],
           [1.]], dtype=float32)
    """
    check_matrices(A, square=True)
    check_matrices(B, name="B")
    if B.shape[-2 if left else -1] != A.shape[-1]:
        equation = "A X = B" if left else "X A = B"
        refuse(f"`A` and `B` do not fit {equation}, got {describe(A)} and {describe(B)}")
    matrices, right = with_common_batch(A, B)
    return solved(matrices, right, upper=upper, left=left, unitriangular=unitriangular)


class TriangularSolveResult(NamedTuple):
    """The solution, and the matrix as it was given."""

    solution: Array
    cloned_coefficient: Array


@operator(
    name="triangular_solve",
    promote=Promote.SAME,
    accepts=Accepts.LAPACK,
    synonyms={"b": "input"},
    autocast_cpu=Autocast.FLOAT32,
)
def triangular_solve(
    input: ArrayLike,
    A: ArrayLike,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> TriangularSolveResult:
    r"""Solution $X$ of $A X = b$ for $b$ = `input` and a triangular $A$.

    - `input`: $b$, float32, float64 or complex.
    - `A`: square matrices, of which one triangle is read, of the dtype of `input`.
    - `upper`: which triangle of `A` is read. The other has a gradient of zeros.
    - `transpose`: solves $A^T X = b$, without conjugation.
    - `unitriangular`: takes the diagonal of `A` for ones, without reading it.

    Shapes: `input: [..., n, k]` and `A: [..., n, n]`, whose leading dimensions broadcast, give
    `[..., n, k]` and a copy of `A` with those dimensions. Where the diagonal holds a zero, the
    solution is infinite or NaN.

    >>> A = jnp.asarray([[1.0, 2.0], [0.0, 4.0]], "float32")
    >>> functx.triangular_solve(jnp.asarray([[4.0], [4.0]], "float32"), A).solution
    Array([[2.],
           [1.]], dtype=float32)
    """
    check_matrices(input, name="input")
    check_matrices(A, square=True)
    if input.shape[-2] != A.shape[-1]:
        refuse(f"`input` must have as many rows as `A`, got {describe(input)} and {describe(A)}")
    coefficient, right = with_common_batch(A, input, ("A", "input"))
    solution = solved(
        coefficient, right, upper=upper, transpose=transpose, unitriangular=unitriangular
    )
    return TriangularSolveResult(solution, jnp.asarray(coefficient))
