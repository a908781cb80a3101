from __future__ import annotations

from collections.abc import Iterator

import functx
from functx.testing.make import Make
from functx.testing.opinfo import OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


def clone_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make())
    yield call(make(2, 0))
    yield call(make.small(2, 1, 3, 2))
    yield edge(make.delicate(8))


def clone_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), memory_format=1), r"`memory_format` does not exist", TypeError)


OPS = [
    OpInfo(
        functx.clone,
        clone_samples,
        reference=lambda x: x,
        refusals=clone_refusals,
        tolerances=(EXACT,),
    )
]
