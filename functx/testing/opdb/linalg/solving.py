"""Samples of linear systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.linalg import LinAlgError
from functx.testing.make import Make
from functx.testing.opinfo import OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED

from .square_matrices import square_refusals, square_samples


def solve_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 3), make(3, 2))
    yield call(make.matrix(2, 2, 2), make(2, 2))
    yield call(make.matrix(2, 2), make(2))
    yield call(make.matrix(2, 2), make(3, 2), left=False)
    yield call(make.matrix(2, 1, 2, 2), make(3, 2, 1))
    yield call(make.matrix(2, 2), make(2, 2, 1))
    yield call(make.matrix(0, 0), make(0, 2))
    yield call(make.matrix(2, 2), make(2, 0))


def solve_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(2)), r"`A` must be \[..., n, n\]")
    yield Refusal(call(make(2, 2), make()), "`B` must have at least 1 dimension")
    yield Refusal(call(make(2, 2), make(3, 1)), "do not fit A X = B")
    yield Refusal(call(make(2, 2), make(2), left=False), "do not fit X A = B")
    yield Refusal(call(make(3, 2, 2), make(4, 2, 1)), "linalg.solve")
    singular = make.put([[1, 2], [2, 4]])
    yield Refusal(call(singular, make(2)), "invertible, which matrix 0", LinAlgError)


def inv_refusals(make: Make) -> Iterator[Refusal]:
    yield from square_refusals(make)
    batch = make.put([[[1, 0], [0, 1]], [[1, 2], [2, 4]]])
    yield Refusal(call(batch), "invertible, which matrix 1 is not", LinAlgError)


def np_solve(A: Any, B: Any, *, left: bool = True) -> Any:
    if B.ndim == 1 or B.shape == A.shape[:-1]:
        return np.linalg.solve(A, B[..., None])[..., 0]
    if left:
        return np.linalg.solve(A, B)
    return B @ np.linalg.inv(A)


OPS = [
    OpInfo(functx.linalg.solve, solve_samples, np_solve, solve_refusals, tolerances=(FACTORED,)),
    OpInfo(functx.linalg.inv, square_samples, np.linalg.inv, inv_refusals, tolerances=(FACTORED,)),
]
