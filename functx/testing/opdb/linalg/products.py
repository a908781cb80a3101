from __future__ import annotations

import functools as ft
from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def multi_dot_samples(make: Make) -> Iterator[Sample]:
    yield call([make(2, 3), make(3, 2)])
    yield call([make(1, 3), make(3, 2), make(2, 4), make(4, 1)])
    yield call((make(2), make(2, 3), make(3)))
    yield call([make(2), make(2, 3)])
    yield call([make(2, 3), make(3)])
    yield call([make(2), make(2)])
    yield call([make(2, 0), make(0, 2), make(2, 1)])


def multi_dot_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 2)
    yield Refusal(call([x]), "`tensors` must be at least 2 matrices, got 1")
    yield Refusal(call([x, make(2), x]), r"`tensors\[1\]` must have 2 dimensions, got")
    yield Refusal(call([make(1, 2, 2), x]), r"`tensors\[0\]` must have 1 or 2 dimensions, got")
    yield Refusal(call([x, make(3, 2)]), r"`tensors\[1\]` must have 2 rows, got \S+ beside")
    yield Refusal(call([x, make(2, 2, dtype="float16")]), "same dtype", TypeError)


def np_multi_dot(tensors: Any) -> Any:
    return np.asarray(ft.reduce(np.matmul, tensors))


def vecdot_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 3))
    yield call(make(3, 2), make(2, 1, 2), dim=1)
    yield call(make(3), make(3))
    yield call(make(2, 0), make(2, 0))
    yield call(make(2, 3), make(3), dim=-2)


def vecdot_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(x, x, dim=2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(x, make(3, 3)), "linalg.vecdot: ")
    integers = make(3, dtype="int64")
    yield Refusal(call(integers, integers), "expected inexact arrays", TypeError)


def np_vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    return np.sum(np.conj(x) * y, dim)


def vecdot_conventions(make: Make) -> Iterator[Convention]:
    x, y = make.put([1j, 2], "complex128"), make.put([3j, 1j], "complex128")
    yield Convention("the first is conjugated", call(x, y), value=3 + 2j)


def vector_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "a vector has one dimension; of two vectors PyTorch looks at no `dim`",
        call(make(3), make(3), dim=4),
        r"vecdot\(\w+\[\d+\][^,]*(?:, [^\w]*[-\d.e+na]+)*.*`dim` must lie in \[-1, 0\]",
    )


OPS = [
    OpInfo(
        functx.linalg.multi_dot,
        multi_dot_samples,
        np_multi_dot,
        multi_dot_refusals,
        tolerances=(SUMS,),
    ),
    OpInfo(
        functx.linalg.vecdot,
        vecdot_samples,
        np_vecdot,
        vecdot_refusals,
        tolerances=(SUMS,),
        conventions=vecdot_conventions,
        departures=(vector_departures,),
    ),
]
