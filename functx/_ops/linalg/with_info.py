"""Operators that report, by a number beside the result, the matrices for which they failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from jax import Array

from functx._core import Accepts, ArrayLike, Autocast, operator, Promote, Requirement

from .cholesky_factors import cholesky_factor, first_minor_not_positive, positive_definite
from .linear_systems import inverse, nonsingular, singular_at, solution
from .matrix_arguments import check_matrices


__all__ = ["cholesky_ex", "inv_ex", "solve_ex"]


def _nonsingular(*, A: Any, check_errors: bool, **_: Any) -> Iterator[Requirement]:
    if check_errors and A.ndim > 1 and A.shape[-1]:
        yield nonsingular(A)


def _positive_definite(
    *, A: Any, upper: bool, check_errors: bool, **_: Any
) -> Iterator[Requirement]:
    if check_errors and A.ndim > 1 and A.shape[-1]:
        yield positive_definite(A, upper=upper)


class CholeskyExResult(NamedTuple):
    """The factor, and the order of the first leading minor that is not positive."""

    L: Array
    info: Array


@operator(accepts=Accepts.LAPACK, requires=_positive_definite, autocast_cpu=Autocast.FLOAT32)
def cholesky_ex(
    A: ArrayLike, *, upper: bool = False, check_errors: bool = False
) -> CholeskyExResult:
    """Cholesky factor, and the order of the first leading minor that is not positive definite.

    - `A`: Hermitian matrices, of which one triangle is read. The factor keeps their dtype.
    - `upper`: whether to read the upper triangle and return $U$ of $A = U^H U$; else $L$ of
      $A = L L^H$.
    - `check_errors`: whether matrices that are not positive definite are refused, with a
      `LinAlgError`.

    Shapes: `A: [..., n, n]` gives `[..., n, n]` and `info: [...]`, int32: the order of the first
    leading minor that is not positive, or 0. Where it is not 0, the factor is NaN; PyTorch leaves
    it half done.
    Errors: RuntimeError unless matrices are square, `LinAlgError` with `check_errors`.

    >>> functx.linalg.cholesky_ex(jnp.asarray([[4.0, 2.0], [2.0, 1.0]], "float32")).info
    Array(2, dtype=int32)
    """
    check_matrices(A, square=True)
    factor = cholesky_factor(A, upper=upper)
    return CholeskyExResult(factor, first_minor_not_positive(A, factor, upper=upper))


class InvExResult(NamedTuple):
    """The inverse, and the number of the first pivot that is zero."""

    inverse: Array
    info: Array


@operator(accepts=Accepts.LAPACK, requires=_nonsingular, autocast_cpu=Autocast.FLOAT32)
def inv_ex(A: ArrayLike, *, check_errors: bool = False) -> InvExResult:
    """Inverse matrix, $A^{-1} A = I$, and the number of the first pivot that is zero.

    - `A`: square matrices, float32, float64 or complex. The inverse keeps their dtype.
    - `check_errors`: whether singular matrices are refused, with a `LinAlgError`.

    Shapes: `A: [..., n, n]` gives `[..., n, n]` and `info: [...]`, int32: the number of the first
    pivot that is zero, counted from 1, or 0. Where it is not 0, the inverse is infinite or NaN.
    Errors: RuntimeError unless matrices are square, `LinAlgError` with `check_errors`.

    >>> functx.linalg.inv_ex(jnp.asarray([[1.0, 2.0], [2.0, 4.0]], "float32")).info
    Array(2, dtype=int32)
    """
    return InvExResult(inverse(A), singular_at(A))


class SolveExResult(NamedTuple):
    """The solution, and the number of the first pivot that is zero."""

    result: Array
    info: Array


@operator(promote=Promote.SAME, accepts=Accepts.LAPACK, requires=_nonsingular)
def solve_ex(
    A: ArrayLike, B: ArrayLike, *, left: bool = True, check_errors: bool = False
) -> SolveExResult:
    """Solution $X$ of a linear system $A X = B$, and the number of the first pivot that is zero.

    - `A`: square matrices, float32, float64 or complex.
    - `B`: matrices or vectors of the same dtype.
    - `left`: whether the system is $A X = B$; else it is $X A = B$.
    - `check_errors`: whether singular matrices are refused, with a `LinAlgError`.

    Shapes: `A: [..., n, n]` and `B: [..., n, k]` (`[..., k, n]` if not `left`), whose leading
    dimensions broadcast, or vectors `B: [n]`, or `[..., n]` as long as the batch of `A`, give a
    result like `B` and `info: [...]`, int32: the number of the first pivot that is zero, counted
    from 1, or 0. Where it is not 0, the solution is infinite or NaN.
    Errors: RuntimeError for shapes that do not fit, TypeError for unequal dtypes, `LinAlgError`
    with `check_errors`.

    >>> A = jnp.asarray([[1.0, 2.0], [2.0, 4.0]], "float32")
    >>> functx.linalg.solve_ex(A, jnp.asarray([1.0, 1.0], "float32")).info
    Array(2, dtype=int32)
    """
    return SolveExResult(solution(A, B, left=left), singular_at(A))
