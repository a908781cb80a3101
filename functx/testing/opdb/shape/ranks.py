from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(3))
    yield call(make())
    yield call(make(2, 3))
    yield call(make(2, 0))
    yield call(make.small(2, 1, 3, 2))
    yield edge(make.delicate(8))


def several_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3), make(2))
    yield call(make(), make(2, 3), make(2, 3, 2))
    yield call([make(), make(2)])
    yield call((make(2, 0),))
    yield call(make(2), make(2, dtype="bool"))
    yield call(make.small(2, 1, 3, 2), make.small())
    yield edge(make.delicate(8), make.delicate(2, 4))


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(
        call("abc"), r"`tensors` must be an array or a sequence of arrays, got", TypeError
    )
    yield Refusal(call(2.0), r"`tensors` must be an array or a sequence of arrays", TypeError)


def several_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), 2), r"`tensors\[1\]` must be an array, got 2", TypeError)
    yield Refusal(call(make(2), None), r"`tensors\[1\]` must be an array, got None", TypeError)
    yield Refusal(call(make(2), [make(2)]), r"got nested sequences", TypeError)


def conventions(make: Make) -> Iterator[Convention]:
    yield Convention("of no arrays, none", call(), holds=lambda y: y == ())


def each(one: Callable[..., Any]) -> Callable[..., Any]:
    def reference(*tensors: Any) -> Any:
        listed = len(tensors) == 1 and isinstance(tensors[0], (tuple, list))
        return tuple(one(x) for x in (tensors[0] if listed else tensors))

    return reference


def entries(op: Callable[..., Any], one: Callable[..., Any]) -> list[OpInfo]:
    return [
        OpInfo(op, samples, reference=one, refusals=refusals, tolerances=(EXACT,)),
        OpInfo(
            op,
            several_samples,
            reference=each(one),
            variant="several",
            refusals=several_refusals,
            conventions=conventions,
            tolerances=(EXACT,),
        ),
    ]


OPS = [
    *entries(functx.atleast_1d, np.atleast_1d),
    *entries(functx.atleast_2d, np.atleast_2d),
    *entries(functx.atleast_3d, np.atleast_3d),
]
