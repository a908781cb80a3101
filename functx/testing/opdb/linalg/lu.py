"""Samples of LU decompositions, and of systems that they solve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx
from functx.linalg import LinAlgError
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED

from .row_exchanges import (
    last_pivot_zero,
    make_pivots,
    np_lu_factor,
    np_permutation,
    np_product,
    np_unpacked,
    packed_by_hand,
    small_pivots,
)
from .triangular_matrices import dominant, np_adjoint


SHOWN = "a pivot of zero shows in the result; `debug.checked` reports it"


def lu_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 3))
    yield call(make.matrix(4, 2))
    yield call(make.matrix(2, 2, 4))
    yield call(small_pivots(make, 3, 3), pivot=False)
    yield call(small_pivots(make, 2, 3, 2), pivot=False)
    yield call(make.matrix(2, 1, 3, 2))
    yield call(make.matrix(1, 1))
    yield call(make.matrix(1, 3))
    yield call(make.matrix(3, 1))
    yield call(make.matrix(0, 0))
    yield call(make.matrix(0, 3))
    yield call(make.matrix(2, 3, 0))
    yield call(make.matrix(0, 3, 3))


def lu_factor_ex_samples(make: Make) -> Iterator[Sample]:
    yield from lu_samples(make)
    yield call(make.matrix(3, 3), check_errors=True)


def np_lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    return *np_lu_factor(A, pivot), np.zeros(A.shape[:-2], np.int32)


def np_lu(A: Any, *, pivot: bool = True) -> Any:
    LU, pivots = np_lu_factor(A, pivot)
    P = np_permutation(pivots, A.shape[-2]) if pivot else np.zeros(0)
    return P.astype(A.dtype), *np_unpacked(LU)


def matrix_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`A` must be \[..., m, n\], got f\d\d\[3\]")


def lu_factor_refusals(make: Make) -> Iterator[Refusal]:
    yield from matrix_refusals(make)
    yield from zero_pivots(make)


def lu_factor_ex_refusals(make: Make) -> Iterator[Refusal]:
    yield from matrix_refusals(make)
    yield from zero_pivots(make, check_errors=True)


def zero_pivots(make: Make, **options: Any) -> Iterator[Refusal]:
    batch = make.put([[[1, 0], [0, 1]], [[1, 2], [2, 4]]])
    said = "`A` must be free of pivots that are zero, which matrix 1 is not"
    yield Refusal(call(batch, **options), said, LinAlgError)
    without = call(make.put([[0, 1], [1, 0]]), pivot=False, **options)
    yield Refusal(without, "free of pivots that are zero, which matrix 0 is not", LinAlgError)


def lu_factor_conventions(make: Make) -> Iterator[Convention]:
    yield last_pivot_zero(make, SHOWN)


def lu_factor_ex_conventions(make: Make) -> Iterator[Convention]:
    yield last_pivot_zero(make)
    for what, matrix, info in [
        ("zero", np.zeros((2, 2)), 1),
        ("rank 1", [[1.0, 2], [2, 4]], 2),
        ("a column of zeros", [[0.0, 2, 3], [0, 4, 6]], 1),
        ("regular", [[4.0, 2], [2, 4]], 0),
    ]:
        value = (None, None, np.asarray(info))
        yield Convention(what, call(make.put(matrix)), value=value)


def lu_conventions(make: Make) -> Iterator[Convention]:
    def by_hand(A: Any) -> Any:
        ((c, d), (quotient, p)), _ = packed_by_hand(A)
        zero, one = jnp.zeros_like(c), jnp.ones_like(c)
        P = jnp.asarray([[0.0, 1], [1, 0]], c.dtype)
        return P, jnp.asarray([[one, zero], [quotient, one]]), jnp.asarray([[c, d], [zero, p]])

    yield Convention(
        "the last pivot may be zero",
        call(make.put([[1.0, 2], [2, 4]])),
        like=by_hand,
        through=lambda out: (2 * out[1], out[2]),
    )


def zero_pivots_accepted(make: Make) -> Iterator[Departure]:
    yield Departure("accepted", SHOWN, call(make.put(np.ones((2, 2)))), r"U\[\d+,\d+\] is zero")


def lu_solve_samples(make: Make) -> Iterator[Sample]:
    for shape, batch, options in [
        ((3, 2), (3, 3), {}),
        ((2, 2, 1), (2, 2, 2), {"adjoint": True}),
        ((2, 3), (3, 3), {"left": False}),
        ((2, 3), (3, 3), {"left": False, "adjoint": True}),
        ((3, 2, 1), (2, 1, 2, 2), {}),
        ((3, 2, 1), (2, 2), {}),
        ((1, 1), (1, 1), {}),
        ((0, 2), (0, 0), {}),
        ((2, 0), (2, 2), {}),
        ((2, 1), (0, 2, 2), {}),
    ]:
        yield call(dominant(make, *batch), make_pivots(make, *batch), make(*shape), **options)


def np_lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    A = np_product(LU, pivots)
    A = np_adjoint(A) if adjoint else A
    return np.linalg.solve(A, B) if left else B @ np.linalg.inv(A)


def lu_solve_refusals(make: Make) -> Iterator[Refusal]:
    LU, B, pivots = make(2, 2), make(2, 1), make.put([2, 2], "int32")
    yield Refusal(call(make(2, 3), pivots, B), r"`LU` must be \[..., n, n\]")
    yield Refusal(call(LU, pivots, make(2)), r"`B` must be \[..., m, n\]")
    yield Refusal(call(LU, pivots, make(3, 1)), "`LU` and `B` do not fit A X = B")
    yield Refusal(call(LU, pivots, B, left=False), "`LU` and `B` do not fit X A = B")
    yield Refusal(call(LU, make.put([2], "int32"), B), "`pivots` must be one for each row")
    yield Refusal(call(LU, make.put([2, 2], "int64"), B), "`pivots` must be int32", TypeError)
    batch = call(make(3, 2, 2), make_pivots(make, 3, 2, 2), make(4, 2, 1))
    yield Refusal(batch, "must have leading dimensions that broadcast")
    for wrong in (0, 3, -1):
        said = rf"`pivots` must lie in \[1, 2\], got {wrong}"
        yield Refusal(call(LU, make.put([2, wrong], "int32"), B), said)


OPS = [
    OpInfo(
        functx.linalg.lu,
        lu_samples,
        np_lu,
        matrix_refusals,
        tolerances=(FACTORED,),
        conventions=lu_conventions,
    ),
    OpInfo(
        functx.linalg.lu_factor,
        lu_samples,
        np_lu_factor,
        lu_factor_refusals,
        tolerances=(FACTORED,),
        conventions=lu_factor_conventions,
        departures=(zero_pivots_accepted,),
    ),
    OpInfo(
        functx.linalg.lu_factor_ex,
        lu_factor_ex_samples,
        np_lu_factor_ex,
        lu_factor_ex_refusals,
        tolerances=(FACTORED,),
        conventions=lu_factor_ex_conventions,
    ),
    OpInfo(
        functx.linalg.lu_solve,
        lu_solve_samples,
        np_lu_solve,
        lu_solve_refusals,
        tolerances=(FACTORED,),
    ),
]
