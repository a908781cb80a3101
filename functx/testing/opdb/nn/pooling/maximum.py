from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import call, Convention, Make, OpInfo, Refusal, Sample

from .windows import positions


def max_pool2d_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(1, 4, 4), 2)
    yield call(make.distinct(1, 2, 3, 4), 2, 1, 1, return_indices=True)
    yield call(make.distinct(1, 6, 5), (3, 2), stride=2, padding=(1, 0), ceil_mode=True)
    yield call(make.distinct(1, 4, 5), 2, stride=1, dilation=(1, 2))
    yield call(make.distinct(0, 1, 2, 2), 2)


def max_pool2d_refusals(make: Make) -> Iterator[Refusal]:
    x = make(1, 4, 4)
    yield Refusal(call(make(4, 4), 2), r"`input` must have 3 dimensions, or 4")
    yield Refusal(call(make(1, 0, 4, 4), 2), r"must not be empty except in its batch")
    yield Refusal(call(x, 5), r"the window is larger than the input")
    yield Refusal(call(x, 2, padding=2), r"at most half of the kernel", ValueError)
    yield Refusal(call(x, 2, padding=-1), r"`padding` must be at least 0", ValueError)
    yield Refusal(call(x, (2, 2, 2)), r"`kernel_size` must be an int or 2", ValueError)
    yield Refusal(call(x, 2, stride=0), r"`stride` must be at least 1", ValueError)


def np_max_pool2d(
    x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    rows, columns = positions(x, kernel_size, stride, padding, dilation, ceil_mode)
    height, width = x.shape[-2:]
    where = np.zeros((*x.shape[:-2], len(rows), len(columns)), "int64")
    flat = x.reshape(*x.shape[:-2], height * width)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            seen = np.asarray(
                [r * width + c for r in row for c in column if 0 <= r < height and 0 <= c < width]
            )
            where[..., i, j] = seen[flat[..., seen].argmax(-1)]
    values = np.take_along_axis(
        flat, where.reshape(*x.shape[:-2], len(rows) * len(columns)), -1
    ).reshape(where.shape)
    return (values, where) if return_indices else values


def max_pool2d_conventions(make: Make) -> Iterator[Convention]:
    nan, inf = np.nan, np.inf
    for what, image, gradient in [
        ("all equal", [[1, 1], [1, 1]], [[1, 0], [0, 0]]),
        ("two greatest", [[0, 2], [2, 1]], [[0, 1], [0, 0]]),
        ("the last of two NaN", [[nan, 3], [nan, 4]], [[0, 0], [1, 0]]),
        ("nothing but -inf", [[-inf, -inf], [-inf, -inf]], [[1, 0], [0, 0]]),
    ]:
        yield Convention(what, call(make.put([image]), 2), gradient=[gradient])
    beside = call(make.put(np.ones((1, 3, 4))), 2, 1, 1, 4, return_indices=True)
    nothing = ([[[-np.inf, -np.inf]]], [[[15, 12]]])
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


OPS = [
    OpInfo(
        F.max_pool2d,
        max_pool2d_samples,
        reference=np_max_pool2d,
        refusals=max_pool2d_refusals,
        conventions=max_pool2d_conventions,
    ),
]
