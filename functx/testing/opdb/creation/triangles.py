from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import OpInfo, Refusal, Sample
from functx.testing.samples import call


def samples(make: Make) -> Iterator[Sample]:
    yield call(2, 3)
    yield call(3, 2, 1, dtype="int32")
    yield call(3, 4, offset=-1, device="cpu")
    yield call(0, 3)
    yield call(3, 0)
    yield call(2, 3, 100)
    yield call(2, 3, -100)
    yield call(2, 3, 2**62)
    yield call(row=4, col=4, offset=-(2**62))


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(-1, 3), r"`row` must not be negative, got \[-1\]")
    yield Refusal(call(3, -1), r"`col` must not be negative, got \[-1\]")
    yield Refusal(call(2, 2, dtype="float32"), r"`dtype` must be int32 or int64", TypeError)
    yield Refusal(call(2.5, 2), r"`row` must be an int, got 2.5", TypeError)


OPS = [
    OpInfo(
        functx.tril_indices,
        samples,
        reference=lambda row, col, offset=0, **_: np.stack(
            np.tril_indices(row, min(max(offset, -row - 1), col), col)
        ),
        refusals=refusals,
    ),
    OpInfo(
        functx.triu_indices,
        samples,
        reference=lambda row, col, offset=0, **_: np.stack(
            np.triu_indices(row, min(max(offset, -row), col + 1), col)
        ),
        refusals=refusals,
    ),
]
