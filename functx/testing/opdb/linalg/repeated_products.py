from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.linalg import LinAlgError
from functx.testing.make import Make
from functx.testing.opinfo import Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED

from .square_matrices import square_refusals


def samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 3), 3)
    yield call(make.matrix(2, 2, 2), -2)
    yield call(make.matrix(2, 2), 0)
    yield call(make.matrix(2, 2), 1)
    yield call(make.matrix(1, 1), 6)
    yield call(make.matrix(0, 0), 2)
    yield call(make.matrix(0, 2, 2), -1)


def refusals(make: Make) -> Iterator[Refusal]:
    for refusal in square_refusals(make):
        sample = call(*refusal.sample.args, 2)
        yield Refusal(sample, refusal.match, refusal.error)
    yield Refusal(call(make(2, 2), 1.5), "`n` must be an int, got 1.5", TypeError)
    singular = make.put([[1, 2], [2, 4]])
    yield Refusal(call(singular, -1), "invertible, which matrix 0 is not", LinAlgError)


def departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "halves are not among the dtypes that PyTorch documents: it inverts none",
        call(make(2, 2, dtype="float16"), 2),
        r"arrays, got b?f16\[",
    )


OPS = [
    OpInfo(
        functx.linalg.matrix_power,
        samples,
        np.linalg.matrix_power,
        refusals,
        tolerances=(FACTORED,),
        departures=(departures,),
    )
]
