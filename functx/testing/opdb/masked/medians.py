from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category, highest, lowest
from functx.testing.make import Make
from functx.testing.opdb.reductions.dimensions import dim_refusals, nothing_refusals
from functx.testing.opdb.reductions.rows import far
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT

from .masked_calls import (
    mask_refusals,
    nothing_left,
    of_numbers,
    over_kept,
    rows,
    some_in_each_row,
    unheard,
)


def median_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 4), 1, mask=some_in_each_row(make, 2, 4))
    yield call(make.distinct(4, 2), -2, keepdim=True, mask=make.put([[True]] * 3 + [[False]], bool))
    yield call(make.distinct(2, 3))
    yield call(make.distinct(2, 3), mask=make.put([2, 0, -1], "int64"))
    yield call(make.distinct(2, 2, 3), 1, mask=some_in_each_row(make, 1, 2, 1))
    yield call(make.distinct(), 0, mask=make.put(True, bool))
    yield call(make.distinct(2, 0), 0, mask=make.put([[True], [False]], bool))
    yield call(make(2, 19), 1, mask=some_in_each_row(make, 2, 19))
    yield call(make.distinct(2, 3), 1, dtype="float64", mask=some_in_each_row(make, 2, 3))
    yield call(make.distinct(2, 3), 1, dtype="int32", mask=some_in_each_row(make, 2, 3))
    if category(make.dtype) == 2:
        yield call(make.distinct(2, 3), 0, mask=make.put([True, False, True], bool))
        yield from rows(make)
        return
    low, high = lowest(make.dtype), highest(make.dtype)
    mask = make.put([True, False, True, True, False], bool)
    rest = [[high, low, high, low, low], [low, high, low, high, high]]
    yield edge(make.put(rest), 1, mask=mask)
    yield edge(far(make, 1, 2, 2, 4), -1, mask=some_in_each_row(make, 2, 4))


def refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield from nothing_refusals(make)
    yield from mask_refusals(make)
    yield Refusal(call(make(2, dtype="complex64")), "expected real arrays", TypeError)
    yield Refusal(call(make(2), keepdim=None), "`keepdim` must be a bool, got None", TypeError)
    nothing = make.put([[True, False], [False, False]], bool)
    kept = "`mask` must keep an element of every slice"
    yield Refusal(call(make(2, 2, dtype="int32"), mask=nothing), kept, ValueError)
    yield Refusal(call(make(dtype="int32"), mask=make.put(False, bool)), kept, ValueError)


def np_median(x, dim=-1, keepdim=False, dtype=None, mask=None):
    def of_row(row):
        found = np.sort(row[row == row])
        return found[(found.size - 1) // 2] if found.size else np.nan

    return over_kept(of_row, x, dim, keepdim, mask)


def median_conventions(make: Make) -> Iterator[Convention]:
    yield from unheard(2, make=make, slope=1)
    yield nothing_left(np.nan, make=make)
    yield of_numbers(make, value=2)
    mask = make.put([False, True, True, True], bool)
    tied = call(make.put([2, 2, 1, 2]), mask=mask)
    yield Convention("one of those that tie", tied, value=2, gradient=[0, 1, 0, 0])
    nan = call(make.put([0, np.nan, 1, 3]), mask=mask)
    yield Convention("NaN takes no part", nan, value=1, gradient=[0, 0, 1, 0])


_OWN = "PyTorch takes no notice of `dtype` where the input is floating"
FLOATING = frozenset({"float16", "bfloat16", "float32", "float64"})


def departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "complex numbers have no order: PyTorch takes the real parts",
        call(make.put([1, 2], "complex64")),
        "expected real arrays",
    )
    large = make.put([2**24, 2**24 + 1, 2**24 + 2], "int64")
    yield Departure(
        "value",
        "integers are compared as they are, where PyTorch rounds them to float32",
        call(large),
        r"median\([iu]\d+\[",
    )


OPS = [
    OpInfo(
        functx.masked.median,
        median_samples,
        reference=np_median,
        refusals=refusals,
        conventions=median_conventions,
        tolerances=(EXACT,),
        departures=(
            Departure("dtype", _OWN, answer=r"\1", match=r"dtype=(\w+)", dtypes=FLOATING),
            Departure("dtype", _OWN, answer=r"\1", match=r"^\(f.*dtype=(\w+)"),
            departures,
        ),
        kinked=True,
    ),
]
