from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, low=0, high=5), (2, 3))
    yield call(make(2, 2, low=0, high=5), [1, 2, 3])
    yield call(make(low=0, high=5), 6)
    yield call(make(0), shape=(0, 3))
    yield call(make(2, 1, 1, 2, low=0, high=5), (2, 300))
    yield call(make(3, low=100, high=127), (2, 300))


def refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, low=0, dtype="int64")
    yield Refusal(call(x, (-1, 3)), r"`shape` must not be negative, got \[-1, 3\]", ValueError)
    yield Refusal(call(x, (2, 0)), r"`shape` must have elements, got \[2, 0\]")
    many = call(x, (2, 2**62))
    yield Refusal(
        many, r"`shape` must have no more than \d+ elements, got \[2, 4611686018427387904\]"
    )
    yield Refusal(call(make(2, dtype="float32"), (2, 2)), r"expected integer arrays", TypeError)


def conventions(make: Make) -> Iterator[Convention]:
    nowhere = call(make.put([0], "int64"), ())
    yield Convention("no dimensions", nowhere, holds=lambda y: y == ())
    beyond = call(make.put([-1, 6, -7], "int64"), (2, 3))
    yield Convention("around both ends", beyond, value=([1, 0, 1], [2, 0, 2]))


def np_unravel_index(x, shape):
    sizes, strides, stride = np.atleast_1d(np.asarray(shape, int)), [], 1
    for size in sizes[::-1]:
        strides, stride = [stride, *strides], stride * size
    x = x.astype(np.int64)
    if not x.size:
        return (x,) * len(sizes)
    return tuple(x // stride % size for size, stride in zip(sizes, strides, strict=True))


OPS = [
    OpInfo(
        functx.unravel_index,
        samples,
        reference=np_unravel_index,
        refusals=refusals,
        conventions=conventions,
    ),
]
