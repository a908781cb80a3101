from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import call, edge, OpInfo, Refusal, Sample


def cat_samples(make: Make) -> Iterator[Sample]:
    yield call((make(2, 3), make(2, 1), make(2, 2)), -1)
    yield call([make(2), make(3), make(1)])
    yield call([make(2, 2)], dim=1)
    yield call((make(0), make(2, 3)), 1)
    yield call((make(2), make(0)))
    yield call((make(0), make(0)))
    yield call([make(2), make(2, dtype="bool")], dim=0)
    yield call([make.small(2, n, 1, 2) for n in (1, 3, 2)], -3)
    yield edge([make.delicate(8) for _ in range(3)])


def cat_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(()), r"`tensors` must not be empty", ValueError)
    yield Refusal(call((make(2), None)), r"`tensors\[1\]` must be an array, got None", TypeError)
    yield Refusal(call(make(2, 3)), r"`tensors` must be a sequence of arrays", TypeError)
    yield Refusal(call((make(2), make())), r"`tensors\[1\]` must have a dimension, got \S+\[\]")
    yield Refusal(
        call((make(2, 3), make(2, 2))), r"agree in shape but for dimension 0, got \S+\[2,3\]"
    )
    yield Refusal(call((make(2, 3), make(2))), r"`tensors` must agree in shape")
    yield Refusal(call((make(2),), 1), r"`dim` must lie in \[-1, 0\], got 1", IndexError)


def np_cat(tensors, dim=0):
    return np.concatenate([x for x in tensors if x.shape != (0,)] or tensors, dim)


def stack_samples(make: Make) -> Iterator[Sample]:
    yield call((make(2, 3), make(2, 3)), 1)
    yield call([make(3), make(3)], -1)
    yield call([make(), make()])
    yield call([make(0, 2)], dim=2)
    yield call([make(2), make(2, dtype="bool")], dim=0)
    yield call([make.small(2, 1, 3, 2) for _ in range(2)], 2)
    yield edge([make.delicate(8) for _ in range(2)])


def stack_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call([]), r"`tensors` must not be empty", ValueError)
    yield Refusal(
        call((make(2), make(3))), r"`tensors` must have one shape, got \S+\[2\], \S+\[3\]"
    )
    yield Refusal(call((make(2),), 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call((make(2), None)), r"`tensors\[1\]` must be an array, got None", TypeError)
    yield Refusal(call(make(2, 3)), r"`tensors` must be a sequence of arrays", TypeError)


OPS = [
    OpInfo(functx.cat, cat_samples, reference=np_cat, refusals=cat_refusals, ulps=0),
    OpInfo(
        functx.stack,
        stack_samples,
        reference=lambda tensors, dim=0: np.stack(tensors, dim),
        refusals=stack_refusals,
        ulps=0,
    ),
]
