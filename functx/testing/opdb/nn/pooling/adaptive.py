from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.floors import SUMS
from functx.testing.opinfo import call, Convention, Departure, Make, OpInfo, Refusal, Sample


def adaptive_avg_pool2d_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 3, 4), 2)
    yield call(make(1, 2, 4, 3), (None, 1))
    yield call(make(1, 2, 3), [3, 5])
    yield call(make(0, 1, 2, 2), 1)
    yield call(make(1, 2, 2), 0)
    yield call(make(1, 2, 27), (1, 3))  # long windows, all as long
    yield call(make(1, 1, 71), (1, 2))  # and not


def adaptive_avg_pool2d_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2), 2), r"`input` must be \[N, C, H, W\] or \[C, H, W\]")
    yield Refusal(call(make(1, 2, 2), (2,)), r"`output_size` must be an int or 2", ValueError)
    yield Refusal(call(make(1, 2, 2), -1), r"`output_size` must be at least 0", ValueError)
    yield Refusal(call(make(1, 2, 2), None), r"`output_size` must be an int or", TypeError)


def np_adaptive_avg_pool2d(x, output_size):
    several = isinstance(output_size, (tuple, list))
    sizes = output_size if several else (output_size, output_size)
    height, width = (n if m is None else m for n, m in zip(x.shape[-2:], sizes, strict=True))
    out = np.zeros((*x.shape[:-2], height, width))
    for i, j in np.ndindex(height, width):
        top, bottom = i * x.shape[-2] // height, -(-(i + 1) * x.shape[-2] // height)
        left, right = j * x.shape[-1] // width, -(-(j + 1) * x.shape[-1] // width)
        out[..., i, j] = x[..., top:bottom, left:right].mean((-2, -1))
    return out


def adaptive_avg_pool2d_conventions(make: Make) -> Iterator[Convention]:
    image = make.put([[[np.inf, 1, 1, 1, 1]]])
    yield Convention("infinity stays in its window", call(image, (1, 2)), value=[[[np.inf, 1]]])


def adaptive_avg_pool2d_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        call(make(2, 3), 1),
        "PyTorch takes the mean for an output of size 1 before it looks at the rank",
        r"must be \[N, C, H, W\]",
    )
    yield Departure(
        "refused",
        call(make(1, 2, 3, dtype="complex64"), (0, 0)),
        "PyTorch looks at dtypes only where there is a window",
        "expected floating arrays, got",
    )


OPS = [
    OpInfo(
        F.adaptive_avg_pool2d,
        adaptive_avg_pool2d_samples,
        reference=np_adaptive_avg_pool2d,
        refusals=adaptive_avg_pool2d_refusals,
        floor=SUMS,
        conventions=adaptive_avg_pool2d_conventions,
        departures=adaptive_avg_pool2d_departures,
    ),
]
