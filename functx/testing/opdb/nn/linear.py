from __future__ import annotations

from collections.abc import Iterator

import functx.nn.functional as F
from functx.testing.floors import SUMS
from functx.testing.opinfo import call, Make, OpInfo, Refusal, Sample


def linear_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(4, 3), make(4))
    yield call(make(3), make(4, 3), make(1))
    yield call(make(2, 2, 3), make(4, 3), make(2, 1, 4))
    yield call(make(2, 3), make(3))
    yield call(make(0, 3), make(2, 3), make(2))
    yield call(make(2, 0), make(2, 0))


def linear_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(4, 2)), r"last dimensions of the same size")
    yield Refusal(call(make(2, 3), make(4, 2, 3)), r"`weight` \[m, n\] or \[n\]")
    yield Refusal(call(make(2, 3), make(3), make(1)), r"`weight` must be \[m, n\]")
    yield Refusal(call(make(2, 3), make(4, 3), make(5, 2, 4)), r"`bias` must broadcast")
    yield Refusal(call(make(2, 3), make(4, 3, dtype="float16")), r"the same dtype", TypeError)


def np_linear(x, weight, bias=None):
    out = x @ weight.T
    return out if bias is None else out + bias


OPS = [OpInfo(F.linear, linear_samples, reference=np_linear, refusals=linear_refusals, floor=SUMS)]
