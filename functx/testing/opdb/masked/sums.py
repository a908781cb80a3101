from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opdb.reductions.dimensions import dims_refusals
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .masked_calls import (
    mask_refusals,
    nothing_left,
    of_numbers,
    over_kept,
    over_several,
    some_in_each_row,
    unheard,
)


def sum_samples(make: Make) -> Iterator[Sample]:
    yield from over_several(make)
    yield call(make(2, 0), -1, mask=make.mask(2, 1))
    yield call(make(2, 3), 0, dtype="complex128", mask=some_in_each_row(make, 2, 3))
    yield call(make(2, 3, dtype="uint8"), dtype="int32", mask=make.mask(2, 1))
    yield call(make(2, 3, dtype="int64"), 1, dtype="bool", mask=make.mask(3))


def prod_samples(make: Make) -> Iterator[Sample]:
    yield from sum_samples(make)
    yield call(make(0, 2), 0)
    yield call(make.nonzero(3, 5, 2), (0, 1), mask=make.mask(5, 2))


def mean_samples(make: Make) -> Iterator[Sample]:
    yield from over_several(make)
    yield call(make(2, 0), -1, mask=make.mask(2, 1))
    yield call(make(2, 3), 0, dtype="complex128", mask=some_in_each_row(make, 2, 3))
    yield call(make(2, 3, dtype="int32"), 1, dtype="float32", mask=make.mask(2, 3))


def refusals(make: Make) -> Iterator[Refusal]:
    yield from dims_refusals(make)
    yield from mask_refusals(make)
    yield Refusal(call(make(2), keepdim=2), "`keepdim` must be a bool or None, got 2", TypeError)


def mean_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    needs = "expected a floating or complex dtype"
    yield Refusal(call(make(3, dtype="int32")), needs, TypeError)
    yield Refusal(call(make(3), dtype="int32"), needs, TypeError)


def np_sum(x, dim=None, keepdim=False, dtype=None, mask=None):
    return over_kept(np.sum, x.astype(dtype or x.dtype), dim, keepdim, mask)


def np_prod(x, dim=None, keepdim=False, dtype=None, mask=None):
    return over_kept(np.prod, x.astype(dtype or x.dtype), dim, keepdim, mask)


def np_mean(x, dim=None, keepdim=False, dtype=None, mask=None):
    return over_kept(np.mean, x.astype(dtype or x.dtype), dim, keepdim, mask)


def sum_conventions(make: Make) -> Iterator[Convention]:
    yield from unheard(2, make=make, slope=1)
    yield of_numbers(make, value=2)
    yield nothing_left(0, make=make)
    large = call(make.put([7e4, -7e4]), dtype="float16")
    yield Convention("the input is cast first", large, value=np.nan)


def prod_conventions(make: Make) -> Iterator[Convention]:
    yield from unheard(2, make=make, slope=1)
    yield of_numbers(make, value=2)
    yield nothing_left(1, make=make)
    mask = make.put([True, True, True, False], bool)
    yield Convention(
        "two zeros, and one that is masked out",
        call(make.put([0, 0, 3, 0]), mask=mask),
        value=0,
        gradient=[0, 0, 0, 0],
        hessian=[[0, 3, 0, 0], [3, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    )


def mean_conventions(make: Make) -> Iterator[Convention]:
    yield from unheard(2, make=make, slope=1)
    yield of_numbers(make, value=2)
    yield nothing_left(np.nan, make=make)
    yield Convention("of nothing", call(make.put([])), value=np.nan, gradient=[])
    alike, mask = make.put(np.full((49, 3), 1.0)), make.put(np.arange(49) > 7, bool)[:, None]
    yield Convention("of equal numbers", call(alike, 0, mask=mask), value=[1, 1, 1], ulps=0)


_ASKED = "PyTorch multiplies in int64 whatever integer dtype is asked for"
_NARROW = frozenset({"bool", "uint8", "int8", "int16", "int32"})
INTEGERS_ASKED = (
    Departure("dtype", _ASKED, answer=r"\1", match=r"dtype=(bool|u8|i8|i16|i32)\b"),
    Departure("dtype", _ASKED, answer="*", match=r"dtype=\*", dtypes=_NARROW),
)


def prod_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "the derivative is the product of the others, where PyTorch divides by the element",
        call(make.put([2.0, np.nan], "float64")),
        "PyTorch \\(?-?nan",
    )


OPS = [
    OpInfo(
        functx.masked.sum,
        sum_samples,
        reference=np_sum,
        refusals=refusals,
        tolerances=(SUMS,),
        conventions=sum_conventions,
    ),
    OpInfo(
        functx.masked.prod,
        prod_samples,
        reference=np_prod,
        refusals=refusals,
        conventions=prod_conventions,
        departures=(*INTEGERS_ASKED, prod_departures),
        kinked=True,
    ),
    OpInfo(
        functx.masked.mean,
        mean_samples,
        reference=np_mean,
        refusals=mean_refusals,
        dtypes=Accepts.INEXACT.value,
        tolerances=(SUMS,),
        conventions=mean_conventions,
    ),
]
