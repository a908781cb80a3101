from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


def matrix_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make())
    yield call(make(2, 0))
    yield call(make.small(2, 3))
    yield edge(make.delicate(2, 4))


def t_samples(make: Make) -> Iterator[Sample]:
    yield from matrix_samples(make)
    yield call(make(3))


def t_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3, 4)), r"`input` must have at most 2 dimensions, got")


def any_samples(make: Make) -> Iterator[Sample]:
    yield from t_samples(make)
    yield call(make.small(2, 1, 3, 2))


def h_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`input` must have 2 dimensions, got \S+\[3\]")
    yield Refusal(call(make(2, 3, 4)), r"`input` must have 2 dimensions, got")


def matrices_samples(make: Make) -> Iterator[Sample]:
    yield from matrix_samples(make)
    yield call(make(2, 3, 2))
    yield call(make.small(2, 1, 3, 2))


def matrices_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`input` must have at least 2 dimensions, got \S+\[3\]")
    yield Refusal(call(None), r"`input` must be an array, got None", TypeError)


def np_transposed(x):
    return np.swapaxes(x, -1, -2) if x.ndim else x


OPS = [
    OpInfo(functx.t, t_samples, reference=np.transpose, refusals=t_refusals, tolerances=(EXACT,)),
    OpInfo(functx.T, any_samples, reference=np.transpose, tolerances=(EXACT,)),
    OpInfo(
        functx.H,
        matrix_samples,
        reference=lambda x: np.conj(x.T),
        refusals=h_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.mT,
        matrices_samples,
        reference=np_transposed,
        refusals=matrices_refusals,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.mH,
        matrices_samples,
        reference=lambda x: np.conj(np_transposed(x)),
        refusals=matrices_refusals,
        tolerances=(EXACT,),
    ),
]
