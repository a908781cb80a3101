from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .padding_extremes import BEYOND_THE_EDGE
from .window_sizes import window_is_a_number


def line_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 3), make(2, 2, 1), make(2))
    yield call(make(1, 2, 3), make(2, 1, 2))
    yield call(make(2, 4, 2), make(4, 1, 3), make(2), 3, (1,), 2, 2)
    yield call(make(1, 3), make(1, 2, 2), stride=2, dilation=3, output_padding=(1,))
    yield call(make(1, 1, 2), make(1, 1, 1), padding=0, output_padding=1, dilation=2)
    yield call(make(0, 2, 3), make(2, 1, 2))
    yield call(make(2, 1, 2), make(1, 1, 2), stride=2)


def plane_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 2, 3), make(2, 1, 1, 1), make(1))
    yield call(make(2, 2, 2, 2), make(2, 1, 3, 2), None, (3, 2), (1, 0), (1, 0), 2, (1, 2))
    yield call(make(1, 2, 2), make(1, 2, 2, 1), make(2), stride=2, output_padding=(0, 1))
    yield call(make(1, 1, 3, 3), make(1, 1, 1, 2), padding=(1, 0))
    yield call(make(1, 2, 1, 2), make(2, 1, 2, 2), stride=2, padding=(0, 1))


def volume_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 2, 1, 2), make(2, 1, 1, 1, 1), make(1))
    yield call(make(1, 2, 2, 2, 1), make(2, 1, 2, 1, 2), None, (2, 1, 3), (1, 0, 0), (0, 0, 2), 2)
    yield call(make(1, 2, 1, 2), make(1, 2, 1, 2, 2), make(2), dilation=(1, 1, 2))
    yield call(make(2, 1, 1, 2), make(2, 1, 1, 2, 1))


def line_refusals(make: Make) -> Iterator[Refusal]:
    x, w = make(1, 2, 4), make(2, 2, 2)
    yield Refusal(call(x, make(2, 2)), r"`weight` 3, got f32\[1,2,4\] and f32\[2,2\]")
    yield Refusal(call(x, make(3, 2, 2)), r"takes 3 channels, which must be a multiple of groups=1")
    yield Refusal(call(make(1, 3, 4), make(3, 2, 2), groups=2), r"a multiple of groups=2")
    yield Refusal(call(make(1, 2, 0), w), "must not be empty except in the batch")
    yield Refusal(call(x, make(2, 2, 0)), "must not be empty except in the batch")
    yield Refusal(call(x, w, make(3)), r"`bias` must be \[2\]")
    yield Refusal(call(x, w, stride=0), r"`stride` must be at least 1, got 0", ValueError)
    yield Refusal(call(x, w, padding=-1), r"`padding` must be at least 0", ValueError)
    yield Refusal(call(x, w, padding=3), r"`padding` must leave something, got 3, which leaves")
    yield Refusal(call(x, w, output_padding=1), r"must be less than the stride or the dilation")
    yield Refusal(call(x, w, output_padding=-1), r"`output_padding` must be at least 0", ValueError)
    yield Refusal(call(x, w, groups=0), r"`groups` must be at least 1", ValueError)
    yield Refusal(call(x, w, make(2, dtype="float16")), r"the same dtype", TypeError)


def plane_refusals(make: Make) -> Iterator[Refusal]:
    x, w = make(1, 2, 4, 4), make(2, 2, 2, 2)
    yield Refusal(call(x, make(2, 2, 2)), r"`weight` 4")
    yield Refusal(call(x, w, dilation=(1, 1, 1)), r"`dilation` must be an int or 2", ValueError)


def volume_refusals(make: Make) -> Iterator[Refusal]:
    x, w = make(1, 1, 2, 2, 2), make(1, 1, 1, 1, 1)
    yield Refusal(call(x[0, 0], w), r"`input` must have 4 dimensions, or 5 with a batch")
    yield Refusal(call(x, w, output_padding=(0, 0, 1)), r"less than the stride or the dilation")


def np_conv_transpose(
    x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    n = weight.ndim - 2
    if x.ndim == n + 1:
        options = (stride, padding, output_padding, groups, dilation)
        return np_conv_transpose(x[None], weight, bias, *options)[0]
    stride, padding, longer, dilation = (
        np.broadcast_to(v, n) for v in (stride, padding, output_padding, dilation)
    )
    reach = dilation * (np.asarray(weight.shape[2:]) - 1)
    whole = (np.asarray(x.shape[2:]) - 1) * stride + reach + 1 + longer
    channels, filters = weight.shape[0] // groups, weight.shape[1]
    out = np.zeros((len(x), filters * groups, *whole), x.dtype)
    for c, f in itertools.product(range(weight.shape[0]), range(filters)):
        for i, j in itertools.product(np.ndindex(x.shape[2:]), np.ndindex(weight.shape[2:])):
            at = (*(np.asarray(i) * stride + np.asarray(j) * dilation),)
            to = (slice(None), c // channels * filters + f, *at)
            out[to] += x[(slice(None), c, *i)] * weight[(c, f, *j)]
    ends = whole - padding
    out = out[(..., *(slice(p, e) for p, e in zip(padding, ends, strict=True)))]
    return out if bias is None else out + bias.reshape(-1, *[1] * n)


OPS = [
    OpInfo(
        operator,
        samples,
        reference=np_conv_transpose,
        refusals=refusals,
        tolerances=(SUMS,),
        gaps=extremes,
        fixed_sizes=(window_is_a_number(*range(2, 2 + n)),),
    )
    for n, operator, samples, refusals, extremes in [
        (1, F.conv_transpose1d, line_samples, line_refusals, (BEYOND_THE_EDGE,)),
        (2, F.conv_transpose2d, plane_samples, plane_refusals, (BEYOND_THE_EDGE,)),
        (3, F.conv_transpose3d, volume_samples, volume_refusals, ()),
    ]
]
