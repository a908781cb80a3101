from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Sample
from functx.testing.samples import call, edge


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make())
    yield call(make(2, 0))
    yield call(make(3, low=-200, high=400))
    yield call(make.small(2, 1, 3, 2))
    yield edge(make.delicate(8))


def np_cast(dtype):
    def reference(x):
        x = np.real(x)
        if category(x.dtype) == 2:
            x = np.where(np.abs(x) < 2.0**63, x, 0).astype(np.int64)
        return x.astype(dtype)

    return reference


def wrapped(least: int):
    def conventions(make: Make) -> Iterator[Convention]:
        values = make.put([1.9, -1.9, 300, np.nan, np.inf, -np.inf, 1e30], "float64")
        yield Convention("modulo 256", call(values), value=[1, least, 44, 0, 0, 0, 0])

    return conventions


OPS = [
    OpInfo(functx.byte, samples, reference=np_cast(np.uint8), conventions=wrapped(255)),
    OpInfo(functx.char, samples, reference=np_cast(np.int8), conventions=wrapped(-1)),
]
