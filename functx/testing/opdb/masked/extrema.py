from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category, highest, lowest
from functx.testing.make import Make
from functx.testing.opdb.reductions.dimensions import dim_refusals, dims_refusals
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT

from .masked_calls import (
    bools_accepted,
    BOOLS_MASKED,
    mask_refusals,
    nothing_left,
    of_numbers,
    over_kept,
    over_one,
    over_several,
    some_in_each_row,
    unheard,
)


NAN, INF = np.nan, np.inf


def extremum_samples(make: Make) -> Iterator[Sample]:
    yield from over_several(make, make.distinct)
    yield call(make.distinct(2, 0), 0, mask=make.mask(2, 1))
    yield call(make.distinct(2, 3), 1, dtype="float64", mask=some_in_each_row(make, 2, 3))
    yield call(make.distinct(2, 3), 1, dtype="int32", mask=make.put([True, False, True], bool))


def position_samples(make: Make) -> Iterator[Sample]:
    yield from over_one(make)
    yield call(make(2, 3), mask=make.mask(2, 3))
    yield call(make(2, 0), 0, mask=make.mask(2, 1))
    yield call(make(2, 3), 1, dtype="int64", mask=make.mask(2, 3))
    yield call(make(2, 300), 1, dtype="int64", mask=make.mask(2, 300))
    mask = make.put([[True, False, True, False, True], [False] * 5], bool)
    if make.dtype == np.uint8:
        yield edge(make.put([[3, 200, 100], [200, 3, 255]]), 1, mask=make.mask(2, 1))
    for end in (lowest(make.dtype), highest(make.dtype)):
        yield edge(make.put(np.full((2, 5), end)), 1, mask=mask)
        yield edge(make.put(np.full((2, 5), end)), mask=~mask)


def extremum_refusals(make: Make) -> Iterator[Refusal]:
    yield from dims_refusals(make)
    yield from mask_refusals(make)
    empty = "dimension 1 must not be empty"
    yield Refusal(call(make(2, 0), 1), empty, IndexError)
    yield Refusal(call(make(2, 0)), "`input` must not be empty")
    yield Refusal(call(make(3, dtype="complex64")), "expected real arrays", TypeError)


def position_refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield from mask_refusals(make)
    yield Refusal(call(make(2, 0), 1), "dimension 1 must not be empty", IndexError)
    yield Refusal(call(make(2, 0)), "`input` must not be empty", IndexError)
    yield Refusal(call(make.mask(2)), "expected real number arrays", TypeError)


def extreme(reduce, nothing):
    """Of zeros -0.0 is the smaller one; NumPy takes any."""

    def of_row(row):
        if row.size == 0:
            return nothing(row.dtype)
        out = reduce(row)
        if category(row.dtype) < 2 or out != 0:
            return out
        return np.copysign(out, reduce(np.copysign(np.ones_like(row), row)))

    def reference(x, dim=None, keepdim=False, dtype=None, mask=None):
        out = over_kept(of_row, x, dim, keepdim, mask)
        return out.astype(dtype or x.dtype)

    return reference


def place(largest: bool):
    """Of ranks, where what is masked out ranks below all."""

    def reference(x, dim=None, keepdim=False, dtype=None, mask=None):
        keep = np.broadcast_to(True if mask is None else mask != 0, x.shape)
        ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape)  # of NaN the greatest
        if not largest:
            ranks = np.where(np.isnan(x), 0, -1 - ranks)
        return np.argmax(np.where(keep, ranks, -2 - x.size), axis=dim, keepdims=keepdim)

    return reference


def extremum_conventions(largest: bool):
    def conventions(make: Make) -> Iterator[Convention]:
        sign = 1 if largest else -1
        yield from unheard(2, make=make, slope=1)
        yield of_numbers(make, value=2)
        yield nothing_left(-sign * INF, make=make)
        mask = make.put([True, False, True, True], bool)
        tied = call(make.put([3 * sign, 3 * sign, sign, 3 * sign]), mask=mask)
        yield Convention("ties that are kept share", tied, gradient=[0.5, 0, 0, 0.5])
        nans = call(make.put([NAN, NAN, sign, NAN]), mask=mask)
        departure = "PyTorch's gradient is NaN"
        yield Convention("NaN share", nans, gradient=[0.5, 0, 0, 0.5], departure=departure)
        worst = call(make.put([-sign * INF, 1, -sign * INF, -sign * INF]), mask=mask)
        third = np.array([1, 0, 1, 1]) / 3
        departure = "in PyTorch what is masked out ties with them"
        yield Convention("nothing but the worst", worst, gradient=third, departure=departure)

    return conventions


def position_conventions(largest: bool):
    def conventions(make: Make) -> Iterator[Convention]:
        worst = -INF if largest else INF
        at = call(make.put([5, worst, worst]), 0, mask=make.put([False, True, True], bool))
        departure = "PyTorch points at what is masked out, which ties with them"
        yield Convention("nothing but the worst", at, value=1, departure=departure)
        yield of_numbers(make, value=1)
        nothing = call(make.put([1, 5, 1]), 0, mask=make.put([False] * 3, bool))
        yield Convention("nothing left", nothing, value=0)
        nans = call(make.put([NAN, 1, NAN, 2]), 0, mask=make.put([False, True, True, True], bool))
        yield Convention("the first NaN that is kept", nans, value=2)

    return conventions


def extremum_departures(largest: bool):
    def departures(make: Make) -> Iterator[Departure]:
        yield from bools_accepted(make)
        yield Departure(
            "gradient",
            "NaN is the extremum, and has the gradient",
            call(make.put([1, NAN], "float64")),
            "PyTorch -?nan",
        )
        worst = make.put([-INF if largest else INF, 1], "float64")
        yield Departure(
            "gradient",
            "what is masked out shares no gradient, with which PyTorch has it tie",
            call(worst, mask=make.put([True, False], bool)),
            r"mask=(?!None).*: of array 0: .* PyTorch 0\.",
        )

    return departures


def position_departures(largest: bool):
    def departures(make: Make) -> Iterator[Departure]:
        worst = make.put([1, -INF if largest else INF], "float64")
        yield Departure(
            "value",
            "the place is one that is kept, where PyTorch has what is masked out tie",
            call(worst, mask=make.put([False, True], bool)),
            "mask=(?!None)",
        )

    return departures


OPS = [
    OpInfo(
        functx.masked.amax,
        extremum_samples,
        reference=extreme(np.max, lowest),
        refusals=extremum_refusals,
        conventions=extremum_conventions(True),
        tolerances=(EXACT,),
        departures=(*BOOLS_MASKED, extremum_departures(True)),
        kinked=True,
    ),
    OpInfo(
        functx.masked.amin,
        extremum_samples,
        reference=extreme(np.min, highest),
        refusals=extremum_refusals,
        conventions=extremum_conventions(False),
        tolerances=(EXACT,),
        departures=(*BOOLS_MASKED, extremum_departures(False)),
        kinked=True,
    ),
    OpInfo(
        functx.masked.argmax,
        position_samples,
        reference=place(True),
        refusals=position_refusals,
        conventions=position_conventions(True),
        departures=(position_departures(True),),
    ),
    OpInfo(
        functx.masked.argmin,
        position_samples,
        reference=place(False),
        refusals=position_refusals,
        conventions=position_conventions(False),
        departures=(position_departures(False),),
    ),
]
