from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge

from .operands import PAIRS


def samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first, low=-60, high=60), make(*second, low=-60, high=60))
    yield call(make.put([0, 0, 7, 12]), make.put([0, 5, 0, 18]))
    yield call(make.put([120, 100, 121, 126]), make.put([99, 75, 110, 84]))  # wraps
    large = make.rng.integers(1, np.iinfo(make.dtype).max, (2, 50))
    yield call(make.put(large[0]), make.put(large[1]))
    yield edge(*make.edge_pairs())


def refusals(make: Make) -> Iterator[Refusal]:
    integers = make(2, dtype="int64")
    yield Refusal(call(integers, make(3, dtype="int64")), "shapes do not fit")
    yield Refusal(call(integers, 2), "`other` must be an array, got 2", TypeError)
    yield Refusal(call(2, integers), "`input` must be an array, got 2", TypeError)
    yield Refusal(call(make(2, dtype="float32"), integers), "expected integral arrays", TypeError)
    yield Refusal(call(make.mask(2), make.mask(2)), "expected integers, got bools", TypeError)


def np_lcm(x, y):
    multiple = np.lcm(x, y)
    # Products of narrow integers are exact, and wrap without their sign.
    return multiple if multiple.dtype.itemsize < 4 else np.abs(multiple)


def gcd_conventions(make: Make) -> Iterator[Convention]:
    x, y = make.put([0, 0, -4, 12, -12], "int64"), make.put([0, -5, 0, -18, -18], "int64")
    yield Convention("zeros and signs", call(x, y), value=[0, 5, 4, 6, 6])
    least = np.iinfo("int32").min
    x, y = make.put([least, least, least, 6], "int32"), make.put([least, 0, 6, least], "int32")
    yield Convention(
        "the least integer",
        call(x, y),
        value=[least, least, 2, 2],
        departure="PyTorch's divisor of a number and the least integer is negative",
    )


def lcm_conventions(make: Make) -> Iterator[Convention]:
    x, y = make.put([0, 0, -4, -12], "int64"), make.put([0, -5, 6, 18], "int64")
    yield Convention("zeros and signs", call(x, y), value=[0, 0, 12, 36])
    narrow = make.put([100, -100, 127, -128], "int8"), make.put([99, 99, 126, 6], "int8")
    yield Convention("multiples that wrap", call(*narrow), value=[-84, -84, -126, -128])
    wide = make.put([50000, 65536], "int32"), make.put([49999, 65537], "int32")
    yield Convention("wide ones", call(*wide), value=[1795017296, 65536])


def gcd_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "value",
        "a divisor is positive, also one of the least integer",
        call(make.put([-128], "int8"), make.put([6], "int8")),
        r": (\d+) at .*PyTorch -\1\b",
    )


OPS = [
    OpInfo(
        functx.gcd,
        samples,
        reference=np.gcd,
        refusals=refusals,
        dtypes=Accepts.INTEGER.value,
        conventions=gcd_conventions,
        departures=(gcd_departures,),
    ),
    OpInfo(
        functx.lcm,
        samples,
        reference=np_lcm,
        refusals=refusals,
        dtypes=Accepts.INTEGER.value,
        conventions=lcm_conventions,
    ),
]
