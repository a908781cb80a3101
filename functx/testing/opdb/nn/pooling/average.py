from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.floors import SUMS
from functx.testing.opinfo import call, Convention, Make, OpInfo, OwnDtypes, Refusal, Sample

from .windows import positions


def avg_pool2d_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 4, 4), 2)
    yield call(make(1, 1, 5, 4), (3, 2), 2, 1, True, False)
    yield call(make(1, 5, 4), 2, stride=(2, 1), ceil_mode=True)
    yield call(make(1, 3, 3), 2, stride=1, divisor_override=3)
    yield call(make(0, 1, 2, 2), 2)


def avg_pool2d_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 2, 2), 2, divisor_override=0), r"must not be 0", ValueError)
    yield Refusal(call(make(1, 2, 2), 3), r"the window is larger than the input")


def np_avg_pool2d(
    x,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
):
    rows, columns = positions(x, kernel_size, stride, padding, 1, ceil_mode)
    vertical, horizontal = np.broadcast_to(padding, 2)
    height, width = x.shape[-2:]
    out = np.zeros((*x.shape[:-2], len(rows), len(columns)))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            inside = [(r, c) for r in row for c in column if 0 <= r < height and 0 <= c < width]
            padded = [
                1 for r in row for c in column if r < height + vertical and c < width + horizontal
            ]
            count = divisor_override or len(padded if count_include_pad else inside)
            out[..., i, j] = sum(x[..., r, c].astype(out.dtype) for r, c in inside) / count
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


OPS = [
    OpInfo(
        F.avg_pool2d,
        avg_pool2d_samples,
        reference=np_avg_pool2d,
        refusals=avg_pool2d_refusals,
        floor=SUMS,
        conventions=avg_pool2d_conventions,
        own_dtypes=(
            OwnDtypes(
                "*",
                "PyTorch has no kernel for bytes",
                dtypes=frozenset({"uint8"}),
            ),
        ),
    ),
]
