from __future__ import annotations

import functools as ft
from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .windows import boxes, inside, positions


def avg_pool2d_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 4, 4), 2)
    yield call(make(1, 1, 5, 4), (3, 2), 2, 1, True, False)
    yield call(make(1, 5, 4), 2, stride=(2, 1), ceil_mode=True)
    yield call(make(1, 3, 3), 2, stride=1, divisor_override=3)
    yield call(make(0, 1, 2, 2), 2)


def avg_pool2d_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 2, 2), 2, divisor_override=0), r"must not be 0", ValueError)
    yield Refusal(call(make(1, 2, 2), 3), r"the window is larger than the input")


def line_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 4), 2)
    yield call(make(1, 2, 5), (3,), 2, 1, True, False)
    yield call(make(1, 5), 2, stride=(2,), ceil_mode=True)


def volume_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 2, 3), 2)
    yield call(make(1, 1, 3, 3, 2), (2, 3, 1), 2, (1, 1, 0), True, False)
    yield call(make(1, 2, 3, 2), 2, stride=(1, 2, 1), ceil_mode=True)
    yield call(make(1, 2, 2, 2), (1, 2, 2), stride=1, divisor_override=3)


def line_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 2), 3), r"the window is larger than the input")
    yield Refusal(call(make(1, 2, 4), (2, 2)), r"`kernel_size` must be an int or 1", ValueError)


def volume_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 2, 2, 2), 2, divisor_override=0), r"must not be 0", ValueError)
    yield Refusal(call(make(1, 2, 2, 2), 3), r"the window is larger than the input")


def np_avg_pool(
    x,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
    *,
    n,
):
    along = positions(x, kernel_size, stride, padding, 1, ceil_mode, n=n)
    ends = np.asarray(x.shape[-n:]) + np.broadcast_to(padding, n)
    out = np.zeros((*x.shape[:-n], *map(len, along)))
    for index, places in boxes(along):
        seen = inside(places, x.shape[-n:])
        padded = [place for place in places if np.all(place < ends)]
        count = divisor_override or len(padded if count_include_pad else seen)
        out[(..., *index)] = sum(x[(..., *place)].astype(out.dtype) for place in seen) / count
    return out if np.issubdtype(x.dtype, np.inexact) else np.trunc(out).astype(x.dtype)


def avg_pool2d_conventions(make: Make) -> Iterator[Convention]:
    image = make.put([[[np.inf, 1, 1, 1]]])
    yield Convention(
        "small integers do not wrap",
        call(make.put([[[100, 100, 100, 101]]], "int8"), (1, 4)),
        value=[[[100]]],
        departure="PyTorch has no kernel for int8",
    )
    yield Convention("infinity stays in its window", call(image, (1, 2)), value=[[[np.inf, 1]]])


NO_BYTES = Departure(
    "dtype", "PyTorch has no kernel for bytes", answer="*", dtypes=frozenset({"uint8"})
)


OPS = [
    OpInfo(
        F.avg_pool1d,
        line_samples,
        reference=ft.partial(np_avg_pool, n=1),
        refusals=line_refusals,
        tolerances=(SUMS,),
        departures=(NO_BYTES,),
    ),
    OpInfo(
        F.avg_pool3d,
        volume_samples,
        reference=ft.partial(np_avg_pool, n=3),
        refusals=volume_refusals,
        tolerances=(SUMS,),
        departures=(NO_BYTES,),
    ),
    OpInfo(
        F.avg_pool2d,
        avg_pool2d_samples,
        reference=ft.partial(np_avg_pool, n=2),
        refusals=avg_pool2d_refusals,
        tolerances=(SUMS,),
        conventions=avg_pool2d_conventions,
        departures=(NO_BYTES,),
    ),
]
