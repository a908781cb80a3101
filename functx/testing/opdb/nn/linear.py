from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def linear_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(4, 3), make(4))
    yield call(make(3), make(4, 3), make(1))
    yield call(make(2, 2, 3), make(4, 3), make(2, 1, 4))
    yield call(make(2, 3), make(3))
    yield call(make(0, 3), make(2, 3), make(2))
    yield call(make(2, 0), make(2, 0))
    yield call(make(3), make(3), make())


def bilinear_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 2), make(4, 3, 2), make(4))
    yield call(make(3), make(1), make(2, 3, 1))
    yield call(make(2, 1, 3), make(2, 1, 2), make(1, 3, 2), bias=make(1))
    yield call(make(0, 3), make(0, 2), make(2, 3, 2))


def bilinear_refusals(make: Make) -> Iterator[Refusal]:
    x, y, w = make(2, 3), make(2, 2), make(4, 3, 2)
    message = r"`input1` must be \[..., n\], `input2` \[..., k\] and `weight` \[m, n, k\], got "
    yield Refusal(call(x, y[:1], w), message + r"f32\[2,3\], f32\[1,2\] and f32\[4,3,2\]")
    yield Refusal(call(x, x, w), message)
    yield Refusal(call(y, y, w), message)
    yield Refusal(call(x, y, w[0]), message)
    yield Refusal(call(make(), make(), w), message)
    yield Refusal(call(x, y, w, make(3)), r"`bias` must be \[4\], got f32\[3\]")
    yield Refusal(call(x, y, make(4, 3, 2, dtype="float16")), r"the same dtype", TypeError)


def np_bilinear(x, y, weight, bias=None):
    out = np.zeros((*x.shape[:-1], len(weight)), x.dtype)
    for o, plane in enumerate(weight):
        out[..., o] = np.sum(np.sum(x[..., None] * plane, -2) * y, -1)
    return out if bias is None else out + bias


def linear_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(4, 2)), r"last dimensions of the same size")
    yield Refusal(call(make(2, 3), make(4, 2, 3)), r"`weight` \[m, n\] or \[n\]")
    yield Refusal(call(make(2, 3), make(3), make(1)), r"`weight` must be \[m, n\]")
    yield Refusal(call(make(3), make(3), make(1)), r"`bias` must broadcast to \[\]")
    yield Refusal(call(make(2, 3), make(4, 3), make(5, 2, 4)), r"`bias` must broadcast")
    yield Refusal(call(make(2, 3), make(4, 3, dtype="float16")), r"the same dtype", TypeError)


def np_linear(x, weight, bias=None):
    out = np.asarray(x @ weight.T)
    return out if bias is None else out + bias


def linear_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "a bias broadcasts to the result, of which PyTorch folds all dimensions but the last",
        call(make(4, 4, 1), make(5, 1), make(1, 1, 5)),
        "number of sizes provided",
    )
    x, weight = make(2, 2, 3, dtype="float64"), make(4, 3, dtype="float64")
    yield Departure(
        "refused",
        "dtypes are the same whatever the shapes; PyTorch adds some shapes of bias apart",
        call(x, weight, make(2, 1, 4, dtype="float32")),
        r"must have the same dtype, got (\w+)\[[\d,]*\], \1\[[\d,]*\], ",
    )


OPS = [
    OpInfo(
        F.linear,
        linear_samples,
        reference=np_linear,
        refusals=linear_refusals,
        departures=(linear_departures,),
        tolerances=(SUMS,),
    ),
    OpInfo(
        F.bilinear,
        bilinear_samples,
        reference=np_bilinear,
        refusals=bilinear_refusals,
        tolerances=(SUMS,),
    ),
]
