from __future__ import annotations

import functools as ft
from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .windows import adaptive, boxes, line_refusals


def adaptive_avg_pool2d_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 3, 4), 2)
    yield call(make(1, 2, 4, 3), (None, 1))
    yield call(make(1, 2, 3), [3, 5])
    yield call(make(0, 1, 2, 2), 1)
    yield call(make(1, 2, 2), 0)
    yield call(make(1, 2, 27), (1, 3))  # long windows, all as long
    yield call(make(1, 1, 71), (1, 2))  # and not


def adaptive_avg_pool2d_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2), 2), r"`input` must have 3 dimensions, or 4 with a batch")
    yield Refusal(call(make(1, 2, 2), (2,)), r"`output_size` must be an int or 2", ValueError)
    yield Refusal(call(make(1, 2, 2), -1), r"`output_size` must be at least 0", ValueError)
    yield Refusal(call(make(1, 2, 2), None), r"`output_size` must be an int or", TypeError)


def line_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 4), 2)
    yield call(make(2, 2, 5), (3,))


def volume_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 3, 4), 2)
    yield call(make(1, 2, 3, 2, 2), (None, 2, 1))
    yield call(make(0, 1, 2, 2, 2), [1, 1, 1])


def volume_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 2, 0, 2), 2), r"elements in each channel, got f\d+\[1,2,0,2\]")
    yield Refusal(call(make(1, 2, 2, 2), (2, 2)), r"`output_size` must be an int or 3", ValueError)


def np_adaptive_avg_pool(x, output_size, *, n):
    along = adaptive(x, output_size, n=n)
    out = np.zeros((*x.shape[:-n], *map(len, along)))
    for index, places in boxes(along):
        out[(..., *index)] = np.mean([x[(..., *place)] for place in places], 0)
    return out


def adaptive_avg_pool2d_conventions(make: Make) -> Iterator[Convention]:
    image = make.put([[[np.inf, 1, 1, 1, 1]]])
    yield Convention("infinity stays in its window", call(image, (1, 2)), value=[[[np.inf, 1]]])


def adaptive_avg_pool2d_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "PyTorch takes the mean for an output of size 1 before it looks at the rank",
        call(make(2, 3), 1),
        r"must have 3 dimensions, or 4",
    )
    yield Departure(
        "refused",
        "PyTorch looks at dtypes only where there is a window",
        call(make(1, 2, 3, dtype="complex64"), (0, 0)),
        "expected floating arrays, got",
    )


OPS = [
    OpInfo(
        F.adaptive_avg_pool1d,
        line_samples,
        reference=ft.partial(np_adaptive_avg_pool, n=1),
        refusals=line_refusals,
        tolerances=(SUMS,),
    ),
    OpInfo(
        F.adaptive_avg_pool3d,
        volume_samples,
        reference=ft.partial(np_adaptive_avg_pool, n=3),
        refusals=volume_refusals,
        tolerances=(SUMS,),
    ),
    OpInfo(
        F.adaptive_avg_pool2d,
        adaptive_avg_pool2d_samples,
        reference=ft.partial(np_adaptive_avg_pool, n=2),
        refusals=adaptive_avg_pool2d_refusals,
        tolerances=(SUMS,),
        conventions=adaptive_avg_pool2d_conventions,
        departures=(adaptive_avg_pool2d_departures,),
    ),
]
