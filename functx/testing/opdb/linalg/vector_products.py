from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import functx
from functx.testing.make import Make
from functx.testing.opdb.products.crossing import cross_refusals, np_cross
from functx.testing.opinfo import OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def cross_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 3))
    yield call(make(3, 3), other=make(3, 3))
    yield call(make(3, 2), make(3, 1), dim=0)
    yield call(make(2, 3, 1), make(1, 3, 2), dim=-2)
    yield call(make(3), make(3))
    yield call(make(0, 3), make(0, 3))


def last_refusals(make: Make) -> Iterator[Refusal]:
    yield from cross_refusals(make)
    yield Refusal(call(make(3, 2), make(3, 2)), "dimension 1 of `input` and `other`")
    yield Refusal(call(make(), make()), "dimension 0 of `input` and `other`")
    yield Refusal(call(make(3), make(3), dim=1), r"`dim` must lie in \[-1, 0\]", IndexError)


def np_last_cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    return np_cross(input, other, dim)


OPS = [
    OpInfo(
        functx.linalg.cross,
        cross_samples,
        reference=np_last_cross,
        refusals=last_refusals,
        tolerances=(SUMS,),
    )
]
