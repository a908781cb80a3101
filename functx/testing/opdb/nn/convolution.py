from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .padding_extremes import BEYOND_THE_EDGE
from .window_sizes import window_is_a_number


def conv1d_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 4), make(2, 2, 2), make(2))
    yield call(make(2, 2, 5), make(4, 1, 3), make(4), stride=2, padding=(1,), groups=2)
    yield call(make(2, 4), make(3, 2, 2), padding="same")
    yield call(make(1, 1, 6), make(1, 1, 2), padding="valid", dilation=3)
    yield call(make(0, 2, 4), make(3, 2, 2), make(3))
    yield call(make(2, 1, 5), make(1, 1, 2), padding=1)


def conv2d_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 3, 3), make(2, 2, 2, 2), make(2))
    yield call(make(2, 2, 4, 3), make(2, 1, 2, 3), None, (2, 1), (0, 1), 1, 2)
    yield call(make(1, 3, 4), make(2, 1, 2, 3), make(2), padding="same", dilation=(2, 1))
    yield call(make(1, 1, 4, 4), make(1, 1, 2, 2), stride=2, padding="valid")
    yield call(make(0, 1, 3, 3), make(1, 1, 2, 2))
    yield call(make(1, 1, 2, 3), make(3, 1, 2, 2), padding=(0, 1), stride=2)
    yield call(make(1, 2, 1, 3), make(1, 2, 1, 1))
    yield call(make(1, 2, 4, 2), make(2, 1, 5, 2), None, (3, 1), (2, 1), 1, 2)


def conv3d_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 2, 3, 2), make(2, 2, 2, 2, 1), make(2))
    yield call(make(2, 2, 3, 2, 3), make(2, 1, 2, 1, 2), None, (2, 1, 1), (0, 1, 0), 1, 2)
    yield call(make(1, 2, 3, 2), make(1, 1, 1, 2, 2), padding="same", dilation=(1, 2, 1))
    yield call(make(1, 1, 3, 2, 2), make(1, 1, 2, 1, 1), stride=2, padding="valid")


def conv_tbc_samples(make: Make) -> Iterator[Sample]:
    yield call(make(4, 1, 2), make(2, 2, 3), make(3))
    yield call(make(3, 2, 1), make(2, 1, 2), make(2), 1)


def conv1d_refusals(make: Make) -> Iterator[Refusal]:
    x, w = make(1, 2, 4), make(4, 2, 2)
    yield Refusal(call(x, make(2, 2)), r"`weight` 3, got f32\[1,2,4\] and f32\[2,2\]")
    yield Refusal(call(x, make(4, 3, 2)), r"takes 3 channels, got f32\[1,2,4\]")
    yield Refusal(call(x, make(3, 1, 2), groups=2), r"multiple of groups=2")
    yield Refusal(call(x, make(4, 2, 5)), r"at least as large as the dilated kernel")
    yield Refusal(call(x, w, make(3)), r"`bias` must be \[4\]")
    yield Refusal(call(x, w, stride=0), r"`stride` must be at least 1, got 0", ValueError)
    yield Refusal(call(x, w, padding=-1), r"`padding` must be at least 0", ValueError)
    yield Refusal(call(x, w, padding="full"), r"'valid' or 'same', got 'full'", ValueError)
    yield Refusal(call(x, w, padding="same", stride=2), r"needs stride 1", ValueError)
    yield Refusal(call(x, w, groups=0), r"`groups` must be at least 1", ValueError)
    yield Refusal(call(x, w, make(4, dtype="float16")), r"the same dtype", TypeError)


def conv2d_refusals(make: Make) -> Iterator[Refusal]:
    x, w = make(1, 2, 4, 4), make(2, 2, 2, 2)
    yield Refusal(call(x, make(2, 2, 2)), r"`weight` 4")
    yield Refusal(call(x, w, dilation=(1, 1, 1)), r"`dilation` must be an int or 2", ValueError)
    yield Refusal(call(x, w, stride=1.5), r"`stride` must be an int or", TypeError)


def conv3d_refusals(make: Make) -> Iterator[Refusal]:
    x, w = make(1, 2, 2, 2, 2), make(2, 2, 1, 1, 1)
    yield Refusal(call(x, make(2, 2, 2)), r"`weight` 5")
    yield Refusal(call(x, w, stride=(1, 1)), r"`stride` must be an int or 3", ValueError)


def conv_tbc_refusals(make: Make) -> Iterator[Refusal]:
    x, w, b = make(4, 1, 2), make(2, 2, 3), make(3)
    yield Refusal(call(x[0], w, b), r"`input` and `weight` must have 3 dimensions, got")
    yield Refusal(call(x, make(2, 1, 3), b), r"takes 1 channels, got f32\[1,2,4\]")
    yield Refusal(call(x, w, make(2)), r"`bias` must be \[3\]")
    yield Refusal(call(x, w, b, -1), r"`pad` must be at least 0", ValueError)
    integers = make(4, 1, 2, dtype="int64")
    yield Refusal(call(integers, w, b), "expected floating arrays, got i64", TypeError)


def np_conv_tbc(x, weight, bias, pad=0):
    out = np_conv(x.transpose(1, 2, 0), weight.transpose(2, 1, 0), bias, padding=pad)
    return out.transpose(2, 0, 1)


def np_conv(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    n = weight.ndim - 2
    if x.ndim == n + 1:
        return np_conv(x[None], weight, bias, stride, padding, dilation, groups)[0]
    stride, dilation = (np.broadcast_to(v, n) for v in (stride, dilation))
    kernel = np.asarray(weight.shape[2:])
    if isinstance(padding, str):
        total = dilation * (kernel - 1) * (padding == "same")
        pads = [(int(t // 2), int(t - t // 2)) for t in total]
    else:
        pads = [(int(p), int(p)) for p in np.broadcast_to(padding, n)]
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    sizes = (np.asarray(x.shape[2:]) - dilation * (kernel - 1) - 1) // stride + 1
    filters, channels = weight.shape[0] // groups, weight.shape[1]
    out = np.zeros((len(x), weight.shape[0], *sizes), x.dtype)
    for f, at in itertools.product(range(weight.shape[0]), np.ndindex(*sizes)):
        group = f // filters
        window = tuple(
            slice(o * s, o * s + d * k, d)
            for o, s, d, k in zip(at, stride, dilation, kernel, strict=True)
        )
        seen = x[(slice(None), slice(group * channels, (group + 1) * channels), *window)]
        out[(slice(None), f, *at)] = (seen * weight[f]).sum(tuple(range(1, n + 2)))
    return out if bias is None else out + bias.reshape(-1, *[1] * n)


def infinity_departures(dimensions: int):
    """What is not finite in weights beside padding."""

    def departures(make: Make) -> Iterator[Departure]:
        image, weight = np.ones([1, 1, *[5] * dimensions]), np.ones([1, 1, *[3] * dimensions])
        weight.flat[0] = np.inf
        yield Departure(
            "value",
            "XLA leaves out padding, where PyTorch adds 0 times infinity",
            call(make.put(image, "float64"), make.put(weight, "float64"), padding=1),
            r"\): (?!-?nan)[^ ]+ at \[[\d, ]*\], PyTorch -?nan ",
        )

    return departures


def whole_departures(make: Make) -> Iterator[Departure]:
    x = make.put(np.ones((3, 2, 1)), "uint8")
    weight, bias = make.put(np.ones((2, 1, 2)), "uint8"), make.put([0, 1], "uint8")
    yield Departure(
        "refused",
        "integers are refused, as in the other convolutions",
        call(x, weight, bias),
        r"expected [\w ,]*arrays, got (?:bool|[iu]\d+)\[",
    )
    yield Departure(
        "refused",
        "nothing is cut off by less than no padding, as in the other convolutions",
        call(make(4, 1, 2), make(2, 2, 3), make(3), -1),
        "`pad` must be at least 0",
    )


OPS = [
    OpInfo(
        F.conv1d,
        conv1d_samples,
        reference=np_conv,
        refusals=conv1d_refusals,
        tolerances=(SUMS,),
        departures=(infinity_departures(1),),
        fixed_sizes=(window_is_a_number(2),),
        gaps=(BEYOND_THE_EDGE,),
    ),
    OpInfo(
        F.conv2d,
        conv2d_samples,
        reference=np_conv,
        refusals=conv2d_refusals,
        tolerances=(SUMS,),
        departures=(infinity_departures(2),),
        fixed_sizes=(window_is_a_number(2, 3),),
        gaps=(BEYOND_THE_EDGE,),
    ),
    OpInfo(
        F.conv3d,
        conv3d_samples,
        reference=np_conv,
        refusals=conv3d_refusals,
        tolerances=(SUMS,),
        fixed_sizes=(window_is_a_number(2, 3, 4),),
    ),
    OpInfo(
        F.conv_tbc,
        conv_tbc_samples,
        reference=np_conv_tbc,
        refusals=conv_tbc_refusals,
        tolerances=(SUMS,),
        departures=(whole_departures,),
        fixed_sizes=(window_is_a_number(0),),
        gaps=(BEYOND_THE_EDGE,),
    ),
]
