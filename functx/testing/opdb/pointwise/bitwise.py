from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import OpInfo, Refusal, Sample
from functx.testing.samples import call

from .operands import binary, PAIRS, unary


def samples(make: Make) -> Iterator[Sample]:
    yield from binary(make)
    yield call(make(2, 3), 1)


def shifts(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first), make(*second, low=0))
    yield call(make(2, 3), 1)
    yield call(2, make(2, low=0))
    yield call(make.put([1, 1, 1, 3]), make.put([7, 8, 100, 31]))
    if make.dtype.kind == "i":
        yield call(make.put([-1, -1, 1]), make.put([7, -1, -100]))


def not_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, dtype="float32")), "expected integral arrays, got f32", TypeError)


def np_right_shift(x, places):
    width = np.iinfo(np.result_type(x, places)).bits
    return np.right_shift(x, np.where((places >= 0) & (places < width), places, width - 1))


def refusals(make: Make) -> Iterator[Refusal]:
    integers = make(2, dtype="int64")
    yield Refusal(call(2, 3), "`input` or `other` must be an array", TypeError)
    yield Refusal(call(make(2, dtype="float32"), 2), "expected integral arrays, got f32", TypeError)
    yield Refusal(call(integers, 2.5), "expected integers, got a common dtype", TypeError)
    yield Refusal(call(integers, make(3, dtype="int64")), "shapes do not fit")


def shift_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    yield Refusal(call(make.mask(2), make.mask(2)), "expected integers, got bools", TypeError)


OPS = [
    OpInfo(functx.bitwise_and, samples, reference=np.bitwise_and, refusals=refusals),
    OpInfo(functx.bitwise_not, unary(), reference=np.invert, refusals=not_refusals),
    OpInfo(functx.bitwise_or, samples, reference=np.bitwise_or, refusals=refusals),
    OpInfo(functx.bitwise_xor, samples, reference=np.bitwise_xor, refusals=refusals),
    OpInfo(
        functx.bitwise_left_shift,
        shifts,
        reference=np.left_shift,
        refusals=shift_refusals,
        dtypes=Accepts.INTEGER.value,
    ),
    OpInfo(
        functx.bitwise_right_shift,
        shifts,
        reference=np_right_shift,
        refusals=shift_refusals,
        dtypes=Accepts.INTEGER.value,
    ),
]
