from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import call, OpInfo, Refusal, Sample

from .operands import PAIRS, quiet, unary_nonzero, unbroadcastable


def quotients(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first), make.nonzero(*second))
    yield call(make(2, 3), 2)
    yield call(make(3), 0.7)


def rounded(mode: str):
    def samples(make: Make) -> Iterator[Sample]:
        for sample in quotients(make):
            yield call(*sample.args, rounding_mode=mode)

    return samples


def zeros_refused(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    integers = make(2, dtype="int64"), make.put([1, 0], "int64")
    yield Refusal(call(*integers), "`other` must not hold zeros")
    mask, complex_ = make.put([True], "bool"), make(1, dtype="complex64")
    yield Refusal(call(mask, mask), "expected real numbers, got bool", TypeError)
    yield Refusal(call(complex_, complex_), "expected real arrays, got c64", TypeError)


def remainder_refusals(make: Make) -> Iterator[Refusal]:
    yield from zeros_refused(make)
    yield Refusal(call(2, 3), "`input` or `other` must be an array", TypeError)


def div_refusals(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    yield Refusal(call(make(2), 2, rounding_mode="up"), "`rounding_mode` must be", ValueError)
    integers = make(2, dtype="int64"), make.put([1, 0], "int64")
    message = "`other` must not hold zeros"
    yield Refusal(call(*integers, rounding_mode="floor"), message)
    complex_ = make(2, dtype="complex64")
    message = "expected real numbers, got complex64"
    yield Refusal(call(complex_, 2, rounding_mode="trunc"), message, TypeError)


@quiet
def np_div(x, y, *, rounding_mode=None):
    if rounding_mode is None:
        return np.true_divide(x, y)
    if rounding_mode == "floor":
        return np.floor_divide(x, y)
    return np.sign(x) * np.sign(y) * np.floor_divide(np.abs(x), np.abs(y))


REAL_NUMBERS = Accepts.REAL_NUMBER.value
OPS = [
    OpInfo(functx.div, quotients, reference=np_div, refusals=div_refusals),
    OpInfo(functx.div, rounded("floor"), reference=np_div, variant="floor", dtypes=REAL_NUMBERS),
    OpInfo(functx.div, rounded("trunc"), reference=np_div, variant="trunc", dtypes=REAL_NUMBERS),
    OpInfo(
        functx.floor_divide,
        quotients,
        reference=np.floor_divide,
        refusals=zeros_refused,
        dtypes=REAL_NUMBERS,
    ),
    OpInfo(
        functx.remainder,
        quotients,
        reference=np.remainder,
        refusals=remainder_refusals,
        dtypes=REAL_NUMBERS,
    ),
    OpInfo(functx.reciprocal, unary_nonzero, reference=quiet(lambda x: 1 / x)),
]
