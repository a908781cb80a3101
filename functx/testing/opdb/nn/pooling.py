from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import call, Make, OpInfo, Refusal, Sample


def max_pool2d_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(1, 4, 4), 2)
    yield call(make.distinct(1, 2, 3, 4), 2, 1, 1, return_indices=True)
    yield call(make.distinct(1, 5, 4), (3, 2), stride=2, padding=(1, 0), ceil_mode=True)
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


def avg_pool2d_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 4, 4), 2)
    yield call(make(1, 1, 5, 4), (3, 2), 2, 1, True, False)
    yield call(make(1, 5, 4), 2, stride=(3, 1), padding=1, ceil_mode=True)
    yield call(make(1, 3, 3), 2, stride=1, divisor_override=3)
    yield call(make(0, 1, 2, 2), 2)


def avg_pool2d_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 2, 2), 2, divisor_override=0), r"must not be 0", ValueError)
    yield Refusal(call(make(1, 2, 2), 3), r"the window is larger than the input")


def adaptive_avg_pool2d_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 3, 4), 2)
    yield call(make(1, 2, 4, 3), (None, 1))
    yield call(make(1, 2, 3), [3, 5])
    yield call(make(0, 1, 2, 2), 1)
    yield call(make(1, 2, 2), 0)


def adaptive_avg_pool2d_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2), 2), r"`input` must be \[N, C, H, W\] or \[C, H, W\]")
    yield Refusal(call(make(1, 2, 2), (2,)), r"`output_size` must be an int or 2", ValueError)
    yield Refusal(call(make(1, 2, 2), -1), r"`output_size` must be at least 0", ValueError)


def _windows(n, kernel, stride, padding, dilation, ceil_mode):
    """The positions in the input and in the padding of each window along one dimension."""
    out, end = [], -1
    while end < n + padding:
        start = len(out) * stride - padding
        end = start + dilation * (kernel - 1)
        if end < n + padding or (ceil_mode and start < n):
            out.append(list(range(start, end + 1, dilation)))
    return out


def _options(x, kernel_size, stride, padding, dilation, ceil_mode):
    stride = kernel_size if stride is None else stride
    pairs = (np.broadcast_to(v, 2).tolist() for v in (kernel_size, stride, padding, dilation))
    return [
        _windows(n, k, s, p, d, ceil_mode)
        for n, k, s, p, d in zip(x.shape[-2:], *pairs, strict=True)
    ]


def np_max_pool2d(
    x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    rows, columns = _options(x, kernel_size, stride, padding, dilation, ceil_mode)
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


def np_avg_pool2d(
    x,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
):
    rows, columns = _options(x, kernel_size, stride, padding, 1, ceil_mode)
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
            out[..., i, j] = sum(x[..., r, c] for r, c in inside) / count
    return out if np.issubdtype(x.dtype, np.inexact) else np.trunc(out).astype(x.dtype)


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


OPS = [
    OpInfo(F.max_pool2d, max_pool2d_samples, reference=np_max_pool2d, refusals=max_pool2d_refusals),
    OpInfo(F.avg_pool2d, avg_pool2d_samples, reference=np_avg_pool2d, refusals=avg_pool2d_refusals),
    OpInfo(
        F.adaptive_avg_pool2d,
        adaptive_avg_pool2d_samples,
        reference=np_adaptive_avg_pool2d,
        refusals=adaptive_avg_pool2d_refusals,
    ),
]
