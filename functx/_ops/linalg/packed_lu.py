"""LU factors in one matrix under PyTorch's older names, and solutions by them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, overload

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayLike, Autocast, Index, operator, Promote, Requirement

from .lu_arguments import (
    check_factors,
    in_range,
    LUFactorExResult,
    LUFactorResult,
    solved_with_batch,
)
from .lu_factors import factored, first_zero_pivot, permutation_matrix, unpacked
from .matrix_arguments import check_matrices


__all__ = ["lu", "lu_solve", "lu_unpack"]


@overload
def lu(A: ArrayLike, pivot: bool = True, get_infos: Literal[False] = False) -> LUFactorResult: ...
@overload
def lu(A: ArrayLike, pivot: bool = True, get_infos: bool = False) -> Any: ...
@operator(name="lu", accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def lu(A: ArrayLike, pivot: bool = True, get_infos: bool = False) -> Any:
    r"""LU factors with partial pivoting, $P^T A = L U$, in one matrix.

    - `A`: matrices, float32, float64 or complex. `LU` keeps their dtype.
    - `pivot`: `False` exchanges no rows, which is unstable. PyTorch has it on CUDA devices alone.
    - `get_infos`: adds the number of the first pivot that is zero, counted from 1, or 0.

    Shapes: `A: [..., m, n]` and k = min(m, n) give `LU: [..., m, n]`, which holds $U$ on and above
    the diagonal and below it $L$, whose diagonal is ones, `pivots: [..., k]` and `info: [...]`.
    Dtypes: `pivots` and `info` are int32. In step i, rows i and `pivots[i] - 1` were exchanged.
    Derivatives are finite where the first m - 1 columns (n, if fewer) are linearly independent;
    PyTorch's where all are.

    >>> functx.lu(jnp.asarray([[1.0, 2.0], [2.0, 0.0]], "float32")).LU
    Array([[2. , 0. ],
           [0.5, 2. ]], dtype=float32)
    """
    check_matrices(A)
    factors, pivots = factored(A, pivot=pivot)
    if get_infos:
        return LUFactorExResult(factors, pivots, first_zero_pivot(factors))
    return LUFactorResult(factors, pivots)


def _pivots_in_range(*, LU_data: Any, LU_pivots: Any, **_: Any) -> Iterator[Requirement]:
    yield from in_range(LU_pivots, LU_data, "LU_pivots")


@operator(
    name="lu_solve",
    promote=Promote.SAME,
    accepts=Accepts.LAPACK,
    requires=_pivots_in_range,
    synonyms={"b": "input"},
    autocast_cpu=Autocast.FLOAT32,
)
def lu_solve(input: ArrayLike, LU_data: ArrayLike, LU_pivots: Index) -> Array:
    r"""Solution $X$ of $A X = b$ for $b$ = `input` and the LU factors of $A$.

    - `input`: $b$, float32, float64 or complex.
    - `LU_data`, `LU_pivots`: the factors and the exchanges that `functx.lu` returned for $A$.

    Shapes: `input: [..., n, k]` and `LU_data: [..., n, n]`, whose leading dimensions broadcast,
    and `LU_pivots: [..., n]` as long as the batch of `LU_data`, give `[..., n, k]`.
    Errors: RuntimeError for pivots outside of `[1, n]`. Where $U$ has a zero on its diagonal, the
    result is infinite or NaN.

    >>> LU, pivots = functx.lu(jnp.asarray([[1.0, 2.0], [2.0, 0.0]], "float32"))
    >>> functx.lu_solve(jnp.asarray([[3.0], [2.0]], "float32"), LU, pivots)
    Array([[1.],
           [1.]], dtype=float32)
    """
    check_factors(LU_data, LU_pivots, ("LU_data", "LU_pivots"), square=True)
    return solved_with_batch(LU_data, LU_pivots, input, names=("LU_data", "input"))


class LUUnpackResult(NamedTuple):
    """The permutation `P`, the unit lower triangular `L` and the upper triangular `U`."""

    P: Array
    L: Array
    U: Array


def _unpacked_pivots_in_range(*, unpack_pivots: bool, **given: Any) -> Iterator[Requirement]:
    if unpack_pivots:
        yield from _pivots_in_range(**given)


@operator(name="lu_unpack", promote=Promote.NO_OPMATH, requires=_unpacked_pivots_in_range)
def lu_unpack(
    LU_data: ArrayLike, LU_pivots: Index, unpack_data: bool = True, unpack_pivots: bool = True
) -> LUUnpackResult:
    r"""The factors of $A = P L U$ from what `lu` returns.

    - `LU_data`, `LU_pivots`: the factors and the exchanges that `functx.lu` returned.
    - `unpack_data`: `False` leaves out `L` and `U`, which are then `[0]`.
    - `unpack_pivots`: `False` leaves out `P`, which is then `[0]`, and does not look at
      `LU_pivots`.

    Shapes: `LU_data: [..., m, n]`, `LU_pivots: [..., k]` and k = min(m, n) give `[..., m, m]`,
    `[..., m, k]` and `[..., k, n]`.
    Errors: RuntimeError for pivots outside of `[1, m]`.

    >>> LU, pivots = functx.lu(jnp.asarray([[1.0, 2.0], [2.0, 0.0]], "float32"))
    >>> functx.lu_unpack(LU, pivots).P
    Array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    nothing = jnp.zeros((0,), LU_data.dtype)
    check_matrices(LU_data, name="LU_data")
    P, L, U = nothing, nothing, nothing
    if unpack_pivots:
        check_factors(LU_data, LU_pivots, ("LU_data", "LU_pivots"))
        P = permutation_matrix(LU_pivots, LU_data.shape[-2], LU_data.dtype)
    if unpack_data:
        L, U = unpacked(LU_data)
    return LUUnpackResult(P, L, U)
