from __future__ import annotations

import functools as ft
from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call

from .windows import greatest, positions


INF, NAN = np.inf, np.nan


def max_pool2d_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(1, 4, 4), 2)
    yield call(make.distinct(1, 2, 3, 4), 2, 1, 1, return_indices=True)
    yield call(make.distinct(1, 6, 5), (3, 2), stride=2, padding=(1, 0), ceil_mode=True)
    yield call(make.distinct(1, 4, 5), 2, stride=1, dilation=(1, 2))
    yield call(make.distinct(0, 1, 2, 2), 2)
    yield call(make.distinct(1, 2, 32), (2, 31), stride=1)


def max_pool2d_refusals(make: Make) -> Iterator[Refusal]:
    x = make(1, 4, 4)
    yield Refusal(call(make(4, 4), 2), r"`input` must have 3 dimensions, or 4")
    yield Refusal(call(make(1, 0, 4, 4), 2), r"must not be empty except in its batch")
    yield Refusal(call(x, 5), r"the window is larger than the input")
    yield Refusal(call(x, 2, padding=2), r"at most half of the kernel", ValueError)
    yield Refusal(call(x, 2, padding=-1), r"`padding` must be at least 0", ValueError)
    yield Refusal(call(x, (2, 2, 2)), r"`kernel_size` must be an int or 2", ValueError)
    yield Refusal(call(x, 2, stride=0), r"`stride` must be at least 1", ValueError)


def line_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(1, 4), 2)
    yield call(make.distinct(1, 2, 4), 2, 1, 1, return_indices=True)
    yield call(make.distinct(1, 6), (3,), stride=2, padding=1, ceil_mode=True)
    yield call(make.distinct(1, 5), 2, stride=1, dilation=(2,))
    yield call(make.distinct(1, 34), 33, 1)


def volume_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(1, 2, 3, 4), 2)
    yield call(make.distinct(1, 2, 2, 2, 3), 2, 1, 1, return_indices=True)
    yield call(make.distinct(1, 2, 4, 3), (1, 3, 2), stride=2, padding=(0, 1, 0), ceil_mode=True)
    yield call(make.distinct(1, 3, 2, 3), 2, stride=1, dilation=(2, 1, 2))
    yield call(make.distinct(1, 1, 1, 32), (1, 1, 31), 1)


def np_max_pool(
    x,
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
    *,
    n,
):
    along = positions(x, kernel_size, stride, padding, dilation, ceil_mode, n=n)
    values, where = greatest(x, along)
    return (values, where) if return_indices else values


def line_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(4), 2), r"`input` must have 2 dimensions, or 3")
    yield Refusal(call(make(1, 4, dtype="int64"), 2), "expected floating arrays", TypeError)


def volume_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(4, 4, 4), 2), r"`input` must have 4 dimensions, or 5")
    yield Refusal(call(make(1, 4, 4, 4), (2, 2)), r"`kernel_size` must be an int or 3", ValueError)


def max_pool2d_conventions(make: Make) -> Iterator[Convention]:
    for what, image, gradient in [
        ("all equal", [[1, 1], [1, 1]], [[1, 0], [0, 0]]),
        ("two greatest", [[0, 2], [2, 1]], [[0, 1], [0, 0]]),
        ("the last of two NaN", [[NAN, 3], [NAN, 4]], [[0, 0], [1, 0]]),
        ("nothing but -inf", [[-INF, -INF], [-INF, -INF]], [[1, 0], [0, 0]]),
    ]:
        yield Convention(what, call(make.put([image]), 2), gradient=[gradient])
    beside = call(make.put(np.ones((1, 3, 4))), 2, 1, 1, 4, return_indices=True)
    nothing = ([[[-INF, -INF]]], [[[15, 12]]])
    yield Convention("windows beside the image", beside, value=nothing)
    overlapping = make.put([[[0, 1, 0], [1, 5, 1], [0, 1, 0]]])
    gradient = [[[0, 0, 0], [0, 4, 0], [0, 0, 0]]]
    yield Convention("windows that overlap", call(overlapping, 2, 1), gradient=gradient)
    yield Convention(
        "squared",
        call(make.put([[[1, 2], [3, 4]]]), 2),
        through=lambda y: y * y,
        hessian=np.diag([0, 0, 0, 2]),
    )


def line_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([[NAN, 3, NAN, 4, -INF, -INF]]), 2)
    gradient = [[1, 0, 1, 0, 1, 0]]
    yield Convention("NaN, -inf", at, value=[[NAN, NAN, -INF]], gradient=gradient)
    at = call(make.put([[1, 1, NAN, NAN]]), 2)
    yield Convention("ties", at, value=[[1, NAN]], gradient=[[1, 0, 0, 1]])


def volume_conventions(make: Make) -> Iterator[Convention]:
    for what, image, gradient in [
        ("all equal", [[1, 1], [1, 1]], [[1, 0], [0, 0]]),
        ("the last of two NaN", [[NAN, 3], [NAN, 4]], [[0, 0], [1, 0]]),
        ("nothing but -inf", [[-INF, -INF], [-INF, -INF]], [[1, 0], [0, 0]]),
    ]:
        at = call(make.put([[image]]), (1, 2, 2))
        yield Convention(what, at, gradient=[[gradient]])


OPS = [
    OpInfo(
        F.max_pool1d,
        line_samples,
        reference=ft.partial(np_max_pool, n=1),
        refusals=line_refusals,
        conventions=line_conventions,
        kinked=True,
    ),
    OpInfo(
        F.max_pool3d,
        volume_samples,
        reference=ft.partial(np_max_pool, n=3),
        refusals=volume_refusals,
        conventions=volume_conventions,
        kinked=True,
    ),
    OpInfo(
        F.max_pool2d,
        max_pool2d_samples,
        reference=ft.partial(np_max_pool, n=2),
        refusals=max_pool2d_refusals,
        conventions=max_pool2d_conventions,
        kinked=True,
    ),
]
