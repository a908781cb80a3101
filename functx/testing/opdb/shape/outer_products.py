from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import Tolerance


def outer_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2), make(3))
    yield call(make(0), make(2))
    yield call(make(1), vec2=make(1))
    yield call(make(2), make(3, dtype="bool"))
    yield call(make.small(3), make.small(2))
    yield edge(make.delicate(8), make.delicate(8))


def outer_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 1), make(3)), r"`input` must have 1 dimension, got \S+\[2,1\]")
    yield Refusal(call(make(2), make()), r"`vec2` must have 1 dimension, got \S+\[\]")


def kron_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), None), r"`other` must be an array, got None", TypeError)
    yield Refusal(call(make(2), [1, 2]), r"`other` must be an array", TypeError)


def kron_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 2), make(1, 3))
    yield call(make(2, 1, 2), make(3))
    yield call(make(), make(2, 2))
    yield call(make(), make())
    yield call(make(0, 2), other=make(2, 2))
    yield call(make(2), make(2, dtype="bool"))
    yield call(make.small(1, 2, 1, 2), make.small(2, 1, 2, 1))
    yield call(make(1, 2, 2, 1), make(2))
    yield edge(make.delicate(8), make.delicate(8))


ONE_PRODUCT = Tolerance("each element is one product, rounded once", ulps=2)
OPS = [
    OpInfo(
        functx.outer,
        outer_samples,
        reference=lambda input, vec2: np.multiply.outer(input, vec2),
        refusals=outer_refusals,
        tolerances=(ONE_PRODUCT,),
    ),
    OpInfo(
        functx.kron,
        kron_samples,
        reference=lambda input, other: np.kron(input, other),
        refusals=kron_refusals,
        tolerances=(ONE_PRODUCT,),
    ),
]
