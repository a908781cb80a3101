from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import Tolerance

from .operands import quiet, unary


def round_samples(make: Make) -> Iterator[Sample]:
    yield from unary()(make)
    if category(make.dtype) == 2:
        yield call(make(2, 3), decimals=2)
        yield call(make(2, 3, low=-900, high=900), decimals=-1)
        yield call(make.put(np.arange(1, 60) / 7), decimals=1)
        yield edge(make.put([0.5, 1.5, -0.5, -2.5]))
        yield edge(make.put([np.inf, -np.inf, np.nan]))


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make.mask(2)), "expected real number arrays, got bool", TypeError)
    yield Refusal(call(make(2, dtype="complex64")), "expected real number arrays", TypeError)


def round_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    integers = make(2, dtype="int64")
    yield Refusal(call(integers, decimals=1), "`decimals` must be 0 for integers", TypeError)


def rounding(function):
    return lambda x: x if x.dtype.kind in "iu" else function(x)


def np_round(x, *, decimals=0):
    return x if x.dtype.kind in "iu" else np.round(x, decimals)


def no_slope(make: Make) -> Iterator[Convention]:
    at = make.put([0.5, 1.2, -1.0, 0.0])
    yield Convention("no slope, not even at steps", call(at), gradient=[0, 0, 0, 0])


def round_conventions(make: Make) -> Iterator[Convention]:
    yield from no_slope(make)
    ties = make.put([0.5, 1.5, 2.5, -0.5, -1.5])
    yield Convention("halves go to the even side", call(ties), value=[0, 2, 2, -0.0, -2])
    yield Convention("no slope at any decimal", call(ties, decimals=1), gradient=[0] * 5)


def frac_refusals(make: Make) -> Iterator[Refusal]:
    integers = make(2, dtype="int64")
    yield Refusal(call(integers), "expected floating arrays, got i64", TypeError)


def frac_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([2.0, -0.5, -3.25, np.inf, np.nan]))
    value = [0, -0.5, -0.25, np.nan, np.nan]
    yield Convention("a sawtooth", at, value=value, gradient=[1, 1, 1, 1, 1])


TIES_TO_EVEN = Tolerance(
    "which number is nearest is no matter of rounding",
    ulps=0,
    dtypes=frozenset({"float32", "float64"}),
)
OPS = [
    OpInfo(
        functx.floor,
        unary(),
        reference=rounding(np.floor),
        refusals=refusals,
        conventions=no_slope,
    ),
    OpInfo(
        functx.ceil,
        unary(),
        reference=rounding(np.ceil),
        refusals=refusals,
        conventions=no_slope,
    ),
    OpInfo(
        functx.trunc,
        unary(),
        reference=rounding(np.trunc),
        refusals=refusals,
        conventions=no_slope,
    ),
    OpInfo(
        functx.frac,
        unary(),
        reference=quiet(lambda x: x - np.trunc(x)),
        refusals=frac_refusals,
        conventions=frac_conventions,
        kinked=True,
    ),
    OpInfo(
        functx.round,
        round_samples,
        reference=np_round,
        tolerances=(TIES_TO_EVEN,),
        refusals=round_refusals,
        conventions=round_conventions,
    ),
]
