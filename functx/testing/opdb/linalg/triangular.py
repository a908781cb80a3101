"""Samples of triangular systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED

from .triangular_matrices import dominant, np_triangle


def solve_triangular_samples(make: Make) -> Iterator[Sample]:
    yield call(dominant(make, 3, 3), make(3, 2), upper=True)
    yield call(dominant(make, 2, 2, 2), make(2, 2, 1), upper=False)
    yield call(dominant(make, 3, 3), make(2, 3), upper=True, left=False)
    yield call(dominant(make, 3, 3), make(2, 3), upper=False, left=False)
    yield call(dominant(make, 2, 2), make(2, 2), upper=True, unitriangular=True)
    yield call(dominant(make, 3, 3), make(1, 3), upper=False, left=False, unitriangular=True)
    yield call(dominant(make, 2, 1, 2, 2), make(3, 2, 1), upper=True)
    yield call(dominant(make, 2, 2), make(3, 2, 1), upper=False)
    yield call(dominant(make, 1, 1), make(1, 1), upper=True)
    yield call(dominant(make, 0, 0), make(0, 2), upper=True)
    yield call(dominant(make, 2, 2), make(2, 0), upper=True)
    yield call(dominant(make, 0, 2, 2), make(2, 1), upper=False)


def np_solve_triangular(
    A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    T = np_triangle(A, upper, unitriangular)
    if left:
        return np.linalg.solve(T, B)
    return np.swapaxes(np.linalg.solve(np.swapaxes(T, -1, -2), np.swapaxes(B, -1, -2)), -1, -2)


def solve_triangular_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(2, 1), upper=True), r"`A` must be \[..., n, n\]")
    yield Refusal(call(make(2, 2), make(2), upper=True), r"`B` must be \[..., m, n\]")
    yield Refusal(call(make(2, 2), make(3, 1), upper=True), "do not fit A X = B")
    yield Refusal(call(make(2, 2), make(2, 3), upper=True, left=False), "do not fit X A = B")
    yield Refusal(
        call(make(3, 2, 2), make(4, 2, 1), upper=True),
        r"`A` and `B` must have leading dimensions that broadcast, got \w+\[3,2,2\] and",
    )


def solve_triangular_conventions(make: Make) -> Iterator[Convention]:
    """X = [1, 1], of which the second element is (b_2 - a_21 x_1) / a_22."""
    A, B = np.asarray([[2, np.nan], [1, 4]]), make.put([[2], [5]])
    gradient = ([[1 / 8, 0], [-1 / 4, -1 / 4]], [[-1 / 8], [1 / 4]])
    yield Convention(
        "the upper triangle is not read",
        call(make.put(A), B, upper=False),
        value=[[1], [1]],
        through=lambda X: X[1],
        gradient=gradient,
    )
    A = np.asarray([[np.nan, 3], [np.nan, np.nan]])
    yield Convention(
        "nor is a diagonal of ones",
        call(make.put(A), B, upper=True, unitriangular=True),
        value=[[-13], [5]],
        gradient=([[0, -5], [0, 0]], [[1], [-2]]),
    )


def mixed_dtypes(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "PyTorch casts `B` to the dtype of `A`, and drops its imaginary part",
        call(dominant(make, 2, 2), make(2, 1, dtype="float64"), upper=True),
        "arrays must have the same dtype",
    )


def triangular_solve_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 2), dominant(make, 3, 3))
    yield call(make(2, 2, 1), dominant(make, 2, 2, 2), upper=False)
    yield call(make(3, 2), dominant(make, 3, 3), transpose=True)
    yield call(make(3, 1), dominant(make, 3, 3), False, True)
    yield call(make(2, 2), dominant(make, 2, 2), unitriangular=True)
    yield call(make(3, 1), dominant(make, 3, 3), False, True, True)
    yield call(make(3, 2, 1), dominant(make, 2, 1, 2, 2))
    yield call(make(3, 2, 1), dominant(make, 2, 2), upper=False)
    yield call(make(1, 1), dominant(make, 1, 1))
    yield call(make(0, 2), dominant(make, 0, 0))
    yield call(make(2, 0), dominant(make, 2, 2))
    yield call(make(2, 1), dominant(make, 0, 2, 2))


def np_triangular_solve(
    input: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    T = np_triangle(A, upper, unitriangular)
    solution = np.linalg.solve(np.swapaxes(T, -1, -2) if transpose else T, input)
    return solution, np.broadcast_to(A, (*solution.shape[:-2], *A.shape[-2:]))


def triangular_solve_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), make(2, 2)), r"`input` must be \[..., m, n\]")
    yield Refusal(call(make(2, 1), make(2, 3)), r"`A` must be \[..., n, n\]")
    yield Refusal(call(make(3, 1), make(2, 2)), "`input` must have as many rows as `A`")
    yield Refusal(
        call(make(4, 2, 1), make(3, 2, 2)),
        r"`A` and `input` must have leading dimensions that broadcast, got \w+\[3,2,2\] and",
    )


def triangular_solve_conventions(make: Make) -> Iterator[Convention]:
    A, b = np.asarray([[2, np.nan], [1, 4]]), make.put([[2], [5]])
    yield Convention(
        "the upper triangle is not read",
        call(b, make.put(A), upper=False),
        value=([[1], [1]], None),
        through=lambda out: out[0][1],
        gradient=([[-1 / 8], [1 / 4]], [[1 / 8, 0], [-1 / 4, -1 / 4]]),
    )
    yield Convention(
        "the copy is whole",
        call(b, make.put([[2.0, 3], [1, 4]]), upper=False),
        value=(None, [[2, 3], [1, 4]]),
        through=lambda out: out[1],
        gradient=([[0], [0]], np.ones((2, 2))),
    )
    A = np.asarray([[np.nan, 3], [np.nan, np.nan]])
    yield Convention(
        "nor is a diagonal of ones",
        call(b, make.put(A), unitriangular=True),
        value=([[-13], [5]], None),
        through=lambda out: out[0],
        gradient=([[1], [-2]], [[0, -5], [0, 0]]),
    )


OPS = [
    OpInfo(
        functx.linalg.solve_triangular,
        solve_triangular_samples,
        np_solve_triangular,
        solve_triangular_refusals,
        tolerances=(FACTORED,),
        conventions=solve_triangular_conventions,
        departures=(mixed_dtypes,),
    ),
    OpInfo(
        functx.triangular_solve,
        triangular_solve_samples,
        np_triangular_solve,
        triangular_solve_refusals,
        tolerances=(FACTORED,),
        conventions=triangular_solve_conventions,
    ),
]
