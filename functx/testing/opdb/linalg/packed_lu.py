"""Samples of LU factors in one matrix, and of what they solve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import EXACT, FACTORED

from .row_exchanges import (
    last_pivot_zero,
    make_pivots,
    np_lu_factor,
    np_permutation,
    np_product,
    np_unpacked,
    small_pivots,
)
from .triangular_matrices import dominant


def lu_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 3))
    yield call(make.matrix(4, 2))
    yield call(make.matrix(2, 2, 4))
    yield call(make.matrix(3, 3), get_infos=True)
    yield call(small_pivots(make, 3, 3), pivot=False)
    yield call(small_pivots(make, 2, 3, 2), False, True)
    yield call(small_pivots(make, 2, 3), False)
    yield call(make.matrix(2, 1, 3, 2), True, True)
    yield call(make.matrix(1, 1))
    yield call(make.matrix(1, 3))
    yield call(make.matrix(3, 1))
    yield call(make.matrix(0, 0), get_infos=True)
    yield call(make.matrix(0, 3))
    yield call(make.matrix(2, 3, 0), get_infos=True)
    yield call(make.matrix(0, 3, 3), get_infos=True)


def np_lu(A: Any, pivot: bool = True, get_infos: bool = False) -> Any:
    LU, pivots = np_lu_factor(A, pivot)
    return (LU, pivots, np.zeros(A.shape[:-2], np.int32)) if get_infos else (LU, pivots)


def lu_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`A` must be \[..., m, n\], got f\d\d\[3\]")


def lu_conventions(make: Make) -> Iterator[Convention]:
    for what, matrix, LU, pivots, info in [
        ("zero", np.zeros((2, 2)), np.zeros((2, 2)), [1, 2], 1),
        ("rank 1", [[1.0, 2], [2, 4]], [[2, 4], [0.5, 0]], [2, 2], 2),
        ("a column of zeros", [[0.0, 2, 3], [0, 4, 6]], [[0, 2, 3], [0, 4, 6]], [1, 2], 1),
        ("regular", [[4.0, 2], [2, 4]], [[4, 2], [0.5, 3]], [1, 2], 0),
    ]:
        at = call(make.put(matrix), get_infos=True)
        value = (np.asarray(LU), np.asarray(pivots), np.asarray(info))
        yield Convention(what, at, value=value)
    yield last_pivot_zero(make)
    yield Convention(
        "without exchanges, a column of zeros needs no elimination",
        call(make.put([[0.0, 1], [0, 2]]), pivot=False, get_infos=True),
        value=(np.asarray([[0.0, 1], [0, 2]]), np.asarray([1, 2]), np.asarray(1)),
        departure="PyTorch has it on CUDA devices alone",
    )


def lu_solve_samples(make: Make) -> Iterator[Sample]:
    for shape, batch in [
        ((3, 2), (3, 3)),
        ((2, 2, 1), (2, 2, 2)),
        ((3, 2, 1), (2, 1, 2, 2)),
        ((3, 2, 1), (2, 2)),
        ((1, 1), (1, 1)),
        ((0, 2), (0, 0)),
        ((2, 0), (2, 2)),
        ((2, 1), (0, 2, 2)),
    ]:
        yield call(make(*shape), dominant(make, *batch), make_pivots(make, *batch))


def np_lu_solve(input: Any, LU_data: Any, LU_pivots: Any) -> Any:
    return np.linalg.solve(np_product(LU_data, LU_pivots), input)


def pivots_of(make: Make, *values: Any) -> Any:
    return make.put(values, "int32")


def lu_solve_refusals(make: Make) -> Iterator[Refusal]:
    LU, b, pivots = make(2, 2), make(2, 1), pivots_of(make, 2, 2)
    yield Refusal(call(b, make(2, 3), pivots), r"`LU_data` must be \[..., n, n\]")
    yield Refusal(call(make(2), LU, pivots), r"`input` must be \[..., m, n\]")
    yield Refusal(call(make(3, 1), LU, pivots), "`LU_data` and `input` do not fit A X = B")
    yield Refusal(call(b, LU, pivots_of(make, 2)), "`LU_pivots` must be one for each row")
    batch = call(make(4, 2, 1), make(3, 2, 2), make_pivots(make, 3, 2, 2))
    yield Refusal(batch, "must have leading dimensions that broadcast")
    wide = call(b, LU, make.put([2, 2], "int64"))
    yield Refusal(wide, "`LU_pivots` must be int32, got i64", TypeError)
    for wrong in (0, 3, -1):
        said = rf"`LU_pivots` must lie in \[1, 2\], got {wrong}"
        yield Refusal(call(b, LU, pivots_of(make, 2, wrong)), said)


def lu_unpack_samples(make: Make) -> Iterator[Sample]:
    for shape in [(3, 3), (4, 2), (2, 2, 4), (2, 1, 3, 2), (1, 1), (0, 0), (0, 3), (3, 0)]:
        yield call(make(*shape), make_pivots(make, *shape))
    yield call(make(0, 3, 3), make_pivots(make, 0, 3, 3))
    yield call(make(3, 2), make_pivots(make, 3, 2), unpack_data=False)
    yield call(make(3, 2), make_pivots(make, 3, 2), unpack_pivots=False)
    yield call(make(2, 2), make_pivots(make, 2, 2), False, False)


def np_lu_unpack(
    LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    P = L = U = np.zeros(0, LU_data.dtype)
    if unpack_pivots:
        P = np_permutation(LU_pivots, LU_data.shape[-2]).astype(LU_data.dtype)
    if unpack_data:
        L, U = np_unpacked(LU_data)
    return P, L, U


def lu_unpack_refusals(make: Make) -> Iterator[Refusal]:
    LU = make(3, 2)
    yield Refusal(call(make(2), pivots_of(make, 2, 2)), r"`LU_data` must be \[..., m, n\]")
    yield Refusal(call(LU, pivots_of(make, 1, 2, 3)), "`LU_pivots` must be one for each row")
    yield Refusal(call(LU, pivots_of(make, [1, 2])), "`LU_pivots` must be one for each row")
    wide = call(LU, make.put([2, 2], "int64"))
    yield Refusal(wide, "`LU_pivots` must be int32, got i64", TypeError)
    for wrong in (0, 4, -1):
        said = rf"`LU_pivots` must lie in \[1, 3\], got {wrong}"
        yield Refusal(call(LU, pivots_of(make, 2, wrong)), said)


def unpack_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "each matrix has pivots of its own; PyTorch reads as many as it needs",
        call(make(1, 3, 2), make.put([1, 2], "int32")),
        "`LU_pivots` must be one for each row or column",
    )


OPS = [
    OpInfo(
        functx.lu,
        lu_samples,
        np_lu,
        lu_refusals,
        tolerances=(FACTORED,),
        conventions=lu_conventions,
    ),
    OpInfo(
        functx.lu_solve, lu_solve_samples, np_lu_solve, lu_solve_refusals, tolerances=(FACTORED,)
    ),
    OpInfo(
        functx.lu_unpack,
        lu_unpack_samples,
        np_lu_unpack,
        lu_unpack_refusals,
        tolerances=(EXACT,),
        departures=(unpack_departures,),
    ),
]
