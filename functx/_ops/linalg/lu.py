"""LU decomposition, and systems that it solves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayLike, Index, operator, Promote, Requirement

from .lu_arguments import (
    check_factors,
    in_range,
    LUFactorExResult,
    LUFactorResult,
    solved_with_batch,
)
from .lu_factors import factored, first_zero_pivot, permutation_matrix, unpacked
from .matrix_arguments import check_matrices, each_matrix


__all__ = ["lu", "lu_factor", "lu_factor_ex", "lu_solve"]


def _no_zero_pivot(*, A: Any, pivot: bool, **_: Any) -> Iterator[Requirement]:
    if A.ndim > 1 and 0 not in A.shape[-2:]:
        info = first_zero_pivot(factored(A, pivot=pivot)[0])
        yield each_matrix(info == 0, "free of pivots that are zero")


def _no_zero_pivot_if_asked(*, check_errors: bool, **given: Any) -> Iterator[Requirement]:
    if check_errors:
        yield from _no_zero_pivot(**given)


@operator(accepts=Accepts.LAPACK, requires=_no_zero_pivot, checked_on_request=True)
def lu_factor(A: ArrayLike, *, pivot: bool = True) -> LUFactorResult:
    r"""LU factors with partial pivoting, $P^T A = L U$, in one matrix.

    - `A`: matrices, float32, float64 or complex. `LU` keeps their dtype.
    - `pivot`: `False` exchanges no rows, which is unstable. PyTorch has it on CUDA devices alone.

    Shapes: `A: [..., m, n]` and k = min(m, n) give `LU: [..., m, n]`, which holds $U$ on and above
    the diagonal and below it $L$, whose diagonal is ones, and `pivots: [..., k]`, int32: in step
    i, rows i and `pivots[i] - 1` were exchanged.
    Derivatives are finite where the first m - 1 columns (n, if fewer) are linearly independent;
    PyTorch's where all are. A pivot that is zero is a `LinAlgError` under `functx.debug.checked`
    and in `functx.debug.checking()`.

    >>> functx.linalg.lu_factor(jnp.asarray([[1.0, 2.0], [2.0, 0.0]], "float32")).pivots
    Array([2, 2], dtype=int32)
    """
    check_matrices(A)
    return LUFactorResult(*factored(A, pivot=pivot))


@operator(accepts=Accepts.LAPACK, requires=_no_zero_pivot_if_asked)
def lu_factor_ex(
    A: ArrayLike, *, pivot: bool = True, check_errors: bool = False
) -> LUFactorExResult:
    """LU factors with partial pivoting, $P^T A = L U$, and the first pivot that is zero.

    - `A`: matrices, float32, float64 or complex.
    - `pivot`: whether rows are exchanged; without, the factors are unstable. PyTorch has False on
      CUDA devices alone.
    - `check_errors`: whether matrices with a pivot that is zero are refused, with a `LinAlgError`.

    Shapes: `A: [..., m, n]` and k = min(m, n) give `LU: [..., m, n]`, which holds $U$ on and above
    the diagonal and below it $L$, whose diagonal is ones, `pivots: [..., k]` and `info: [...]`,
    both int32: in step i, rows i and `pivots[i] - 1` were exchanged; `info` counts from 1 and is 0
    where no pivot is zero.
    Errors: RuntimeError if `A` has fewer than 2 dimensions, `LinAlgError` with `check_errors`.

    >>> functx.linalg.lu_factor_ex(jnp.asarray([[1.0, 2.0], [2.0, 4.0]], "float32")).info
    Array(2, dtype=int32)
    """
    check_matrices(A)
    factors, pivots = factored(A, pivot=pivot)
    return LUFactorExResult(factors, pivots, first_zero_pivot(factors))


class LUResult(NamedTuple):
    """The permutation `P`, the unit lower triangular `L` and the upper triangular `U`."""

    P: Array
    L: Array
    U: Array


@operator(accepts=Accepts.LAPACK)
def lu(A: ArrayLike, *, pivot: bool = True) -> LUResult:
    r"""LU decomposition with partial pivoting: $A = P L U$.

    - `A`: matrices, float32, float64 or complex. The factors keep their dtype.
    - `pivot`: `False` exchanges no rows, which is unstable, and leaves `P` out: it is `[0]`.
      PyTorch has it on CUDA devices alone.

    Shapes: `A: [..., m, n]` and k = min(m, n) give `[..., m, m]`, `[..., m, k]` and `[..., k, n]`.
    Derivatives are finite where the first m - 1 columns (n, if fewer) are linearly independent;
    PyTorch's where all are. Those of `P` are zero.

    >>> functx.linalg.lu(jnp.asarray([[1.0, 2.0], [2.0, 0.0]], "float32")).L
    Array([[1. , 0. ],
           [0.5, 1. ]], dtype=float32)
    """
    check_matrices(A)
    factors, pivots = factored(A, pivot=pivot)
    nothing = jnp.zeros((0,), A.dtype)
    P = permutation_matrix(pivots, A.shape[-2], A.dtype) if pivot else nothing
    return LUResult(P, *unpacked(factors))


def _pivots_in_range(*, LU: Any, pivots: Any, **_: Any) -> Iterator[Requirement]:
    yield from in_range(pivots, LU, "pivots")


@operator(promote=Promote.SAME, accepts=Accepts.LAPACK, requires=_pivots_in_range)
def lu_solve(
    LU: ArrayLike, pivots: Index, B: ArrayLike, *, left: bool = True, adjoint: bool = False
) -> Array:
    r"""Solution $X$ of $A X = B$, or of $X A = B$ if not `left`, from the LU factors of $A$.

    - `LU`, `pivots`: the factors and the exchanges that `lu_factor` returned.
    - `B`: the right-hand sides, of the dtype of `LU`.
    - `left`: solves $A X = B$; False solves $X A = B$.
    - `adjoint`: solves with $A^H$ in the place of $A$.

    Shapes: `LU: [..., n, n]` and `B: [..., n, k]` (`[..., k, n]` if not `left`), whose leading
    dimensions broadcast, and `pivots: [..., n]` as long as the batch of `LU`, give a result like
    `B`.
    Errors: RuntimeError for pivots outside of `[1, n]`. Where $U$ has a zero on its diagonal, the
    result is infinite or NaN.

    >>> LU, pivots = functx.linalg.lu_factor(jnp.asarray([[1.0, 2.0], [2.0, 0.0]], "float32"))
    >>> functx.linalg.lu_solve(LU, pivots, jnp.asarray([[3.0], [2.0]], "float32"))
    Array([[1.],
           [1.]], dtype=float32)
    """
    check_factors(LU, pivots, ("LU", "pivots"), square=True)
    return solved_with_batch(LU, pivots, B, names=("LU", "B"), left=left, adjoint=adjoint)
