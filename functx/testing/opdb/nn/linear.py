from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.floors import SUMS
from functx.testing.opinfo import call, Departure, Make, OpInfo, Refusal, Sample


def linear_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(4, 3), make(4))
    yield call(make(3), make(4, 3), make(1))
    yield call(make(2, 2, 3), make(4, 3), make(2, 1, 4))
    yield call(make(2, 3), make(3))
    yield call(make(0, 3), make(2, 3), make(2))
    yield call(make(2, 0), make(2, 0))
    yield call(make(3), make(3), make())


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
        call(make(4, 4, 1), make(5, 1), make(1, 1, 5)),
        "a bias broadcasts to the result, of which PyTorch folds all dimensions but the last",
        "number of sizes provided",
    )
    x, weight = make(2, 2, 3, dtype="float64"), make(4, 3, dtype="float64")
    yield Departure(
        "refused",
        call(x, weight, make(2, 1, 4, dtype="float32")),
        "dtypes are the same whatever the shapes; PyTorch adds some shapes of bias apart",
        r"must have the same dtype, got (\w+)\[[\d,]*\], \1\[[\d,]*\], ",
    )


OPS = [
    OpInfo(
        F.linear,
        linear_samples,
        reference=np_linear,
        refusals=linear_refusals,
        departures=linear_departures,
        floor=SUMS,
    )
]
