from __future__ import annotations

import functools as ft
from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call

from .windows import adaptive, greatest, line_refusals


INF, NAN = np.inf, np.nan


def line_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(1, 4), 2)
    yield call(make.distinct(2, 2, 5), (3,), return_indices=True)
    yield call(make.distinct(1, 3), 0)


def plane_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(1, 3, 4), 2)
    yield call(make.distinct(1, 2, 5, 3), (3, None), True)
    yield call(make.distinct(0, 1, 2, 2), [1, 3])


def volume_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(1, 2, 3, 4), 2)
    yield call(make.distinct(1, 2, 3, 2, 4), (2, None, 3), True)


def np_adaptive_max_pool(x, output_size, return_indices=False, *, n):
    values, where = greatest(x, adaptive(x, output_size, n=n))
    return (values, where) if return_indices else values


def plane_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 0, 2, 2), 2), r"must not be empty except in its batch")
    yield Refusal(call(make(1, 2, 2), (2,)), r"`output_size` must be an int or 2", ValueError)
    yield Refusal(call(make(1, 2, 2), -1), r"`output_size` must be at least 0", ValueError)
    yield Refusal(call(make(1, 2, 2, dtype="int64"), 1), "expected floating arrays", TypeError)


def volume_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2, 2), 2), r"`input` must have 4 dimensions, or 5 with a batch")
    yield Refusal(call(make(1, 2, 2, 2), (2, 2)), r"`output_size` must be an int or 3", ValueError)


def line_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([[NAN, 3, NAN, -INF, -INF]]), 3)
    gradient = [[1, 0, 1, 1, 0]]
    yield Convention("NaN and -inf", at, value=[[NAN, NAN, -INF]], gradient=gradient)
    at = call(make.put([[1, 1, 1]]), 2)
    yield Convention("ties", at, gradient=[[1, 1, 0]])


def plane_conventions(make: Make) -> Iterator[Convention]:
    for what, image, gradient in [
        ("all equal", [[1, 1], [1, 1]], [[1, 0], [0, 0]]),
        ("two greatest", [[0, 2], [2, 1]], [[0, 1], [0, 0]]),
        ("the last of two NaN", [[NAN, 3], [NAN, 4]], [[0, 0], [1, 0]]),
        ("nothing but -inf", [[-INF, -INF], [-INF, -INF]], [[1, 0], [0, 0]]),
    ]:
        yield Convention(what, call(make.put([image]), 1), gradient=[gradient])


def volume_conventions(make: Make) -> Iterator[Convention]:
    for what, image, gradient in [
        ("two greatest", [[0, 2], [2, 1]], [[0, 1], [0, 0]]),
        ("the last of two NaN", [[NAN, 3], [NAN, 4]], [[0, 0], [1, 0]]),
    ]:
        yield Convention(what, call(make.put([[image]]), 1), gradient=[[gradient]])


OPS = [
    OpInfo(
        F.adaptive_max_pool1d,
        line_samples,
        reference=ft.partial(np_adaptive_max_pool, n=1),
        refusals=line_refusals,
        conventions=line_conventions,
        kinked=True,
    ),
    OpInfo(
        F.adaptive_max_pool2d,
        plane_samples,
        reference=ft.partial(np_adaptive_max_pool, n=2),
        refusals=plane_refusals,
        conventions=plane_conventions,
        kinked=True,
    ),
    OpInfo(
        F.adaptive_max_pool3d,
        volume_samples,
        reference=ft.partial(np_adaptive_max_pool, n=3),
        refusals=volume_refusals,
        conventions=volume_conventions,
        kinked=True,
    ),
]
