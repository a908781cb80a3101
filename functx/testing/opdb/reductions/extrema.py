from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT, Tolerance

from .dimensions import axes_of, dim_refusals, dims_refusals, nothing_refusals
from .rows import among_many, at_edges, far, not_finite


def extremum_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3), 1)
    yield call(make.distinct(2, 3, 2), (0, -1), keepdim=True)
    yield call(make.distinct(2, 3))
    yield call(make.distinct(2, 3), dim=[])
    yield call(make.distinct(), 0)
    yield call(make.distinct(2, 0), 0)
    yield from at_edges(make, -1)
    yield from among_many(make, -1)


def both_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3), dim=1)
    yield call(make.distinct(2, 3, 2), dim=-2, keepdim=True)
    yield call(make.distinct(2, 3))
    yield call(make.distinct(2, 3), keepdim=True)
    yield call(make.distinct(), dim=0)
    yield call(make.distinct(2, 0), dim=0)
    yield from at_edges(make, dim=-1)
    if category(make.dtype) == 2:
        yield edge(make.put(np.tile(np.asarray(not_finite(make)), 256)), dim=-1)


def along_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3), 1)
    yield call(make.distinct(2, 3), -2, True)
    yield call(make.distinct(3, 2, 2), dim=0, keepdim=True)
    yield call(make.distinct(), 0)
    yield call(make.distinct(2, 0), 0)
    yield from at_edges(make, -1)
    yield from among_many(make, -1)


def of_all_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3))
    yield call(make.distinct())
    yield call(make.distinct(1))
    yield edge(far(make, 2, 3))
    if category(make.dtype) == 2:
        yield edge(make.put([1, np.nan, 2]))
        yield edge(make.put([np.inf, 1, -np.inf]))


def between_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3), make(2, 3))
    yield call(make.distinct(2, 1), other=make(3))
    yield call(make.distinct(2), make.distinct())
    yield call(make.distinct(2, 0), make.distinct(1, 1))
    yield edge(*make.edge_pairs())


def position_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4), 1)
    yield call(make(2, 3))
    yield call(make(2, 3), None, True)
    yield call(make(2, 3), -2, keepdim=True)
    yield call(make(), 0)
    yield call(make(2, 0), 0)
    yield from at_edges(make, -1)
    yield from among_many(make, -1)


def extremum_refusals(make: Make) -> Iterator[Refusal]:
    yield from dims_refusals(make)
    yield from nothing_refusals(make)
    yield Refusal(call(make(2, 0)), "`input` must not be empty")
    yield Refusal(call(make(3, dtype="complex64")), "expected real arrays", TypeError)


def both_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), dim=2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(2, 0), dim=1), "dimension 1 must not be empty", IndexError)
    yield Refusal(call(make(2, 0)), "`input` must not be empty")
    yield Refusal(call(make(3, dtype="complex64")), "expected real arrays", TypeError)


def overloaded_refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield from nothing_refusals(make)
    yield Refusal(call(make(2, 0)), "`input` must not be empty")
    yield Refusal(call(make(2), keepdim=True), "`keepdim` goes with `dim`", TypeError)
    yield Refusal(call(make(2), 0, other=make(2)), "do not go with `other`", TypeError)
    yield Refusal(call(2, make(3)), "`input` must be an array, got 2", TypeError)
    yield Refusal(call(make(2), make(3)), "shapes do not fit")


def position_refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield from nothing_refusals(make)
    yield Refusal(call(make(2, 0)), "`input` must not be empty", IndexError)
    yield Refusal(call(make.mask(2)), "expected real number arrays", TypeError)


def np_amax(x, dim=None, keepdim=False):
    return extreme(np.max, x, dim, keepdim)


def np_amin(x, dim=None, keepdim=False):
    return extreme(np.min, x, dim, keepdim)


def extreme(reduce, x, dim, keepdim):
    """Of zeros -0.0 is the smaller one; NumPy takes any."""
    out = reduce(x, axis=axes_of(dim), keepdims=keepdim)
    if category(x.dtype) < 2:
        return out
    sign = reduce(np.copysign(np.ones_like(x), x), axis=axes_of(dim), keepdims=keepdim)
    return np.where(out == 0, np.copysign(out, sign), out)


def np_aminmax(x, dim=None, keepdim=False):
    return np_amin(x, dim, keepdim), np_amax(x, dim, keepdim)


def np_argmax(x, dim=None, keepdim=False):
    return np.argmax(x, axis=dim, keepdims=keepdim)


def np_argmin(x, dim=None, keepdim=False):
    return np.argmin(x, axis=dim, keepdims=keepdim)


def np_max(x, dim, keepdim=False):
    return np_amax(x, dim, keepdim), np_argmax(x, dim, keepdim)


def np_min(x, dim, keepdim=False):
    return np_amin(x, dim, keepdim), np_argmin(x, dim, keepdim)


def np_maximum(x, other):
    zeros = (x == 0) & (other == 0)  # of either sign, -0.0 is the smaller one
    return np.where(zeros, np.where(np.signbit(x), other, x), np.maximum(x, other))


def np_minimum(x, other):
    zeros = (x == 0) & (other == 0)
    return np.where(zeros, np.where(np.signbit(x), x, other), np.minimum(x, other))


NAN, INF = np.nan, np.inf


def shared(largest: bool, *, dims: bool):
    """Of a whole array, and of several dimensions, all that tie share the gradient."""

    def conventions(make: Make) -> Iterator[Convention]:
        sign = 1 if largest else -1
        tied = call(make.put([sign, 3 * sign, 3 * sign]))
        yield Convention("ties share", tied, gradient=[0, 0.5, 0.5])
        nans = call(make.put([1, NAN, NAN]))
        departure = "PyTorch's gradient is NaN" if dims else ""
        yield Convention("NaN share", nans, gradient=[0, 0.5, 0.5], departure=departure)
        ends = call(make.put([sign * INF, 1, sign * INF]))
        yield Convention("infinities share", ends, gradient=[0.5, 0, 0.5])
        small = call(make.put([0, sign * 5e-310, sign * 2e-310]))
        yield Convention("subnormal numbers do not tie", small, gradient=[0, 1, 0])
        for zeros in ([0.0, -0.0], [-0.0, 0.0]):
            at = call(make.put(zeros))
            yield Convention("zeros of either sign tie", at, gradient=[0.5, 0.5])
        if dims:
            at = call(make.put([[1, 1], [1, 1]]), (0, 1))
            yield Convention("all alike", at, gradient=[[0.25, 0.25], [0.25, 0.25]])

    return conventions


def both_conventions(make: Make) -> Iterator[Convention]:
    tied = call(make.put([1, 3, 3, 1, 2]))
    halves = [0.5, 0.5, 0.5, 0.5, 0]
    yield Convention("ties share", tied, value=(1, 3), gradient=halves)
    nans = call(make.put([1, NAN, NAN]), dim=0)
    departure = "PyTorch's gradient is NaN"
    yield Convention("NaN share", nans, value=(NAN, NAN), gradient=[0, 1, 1], departure=departure)


def along_conventions(largest: bool):
    """Along one dimension, the first of those that tie has the gradient."""

    def conventions(make: Make) -> Iterator[Convention]:
        sign = 1 if largest else -1
        tied = call(make.put([sign, 3 * sign, 3 * sign]), 0)
        values = lambda out: out.values
        yield Convention("the first", tied, value=(3 * sign, 1), gradient=[0, 1, 0], through=values)
        nans = call(make.put([1, NAN, NAN]), 0)
        yield Convention("the first NaN", nans, value=(NAN, 1), gradient=[0, 1, 0], through=values)

    return conventions


def between_conventions(make: Make) -> Iterator[Convention]:
    pair = call(make.put([2.0, 1.0, NAN]), make.put([2.0, NAN, 1.0]))
    yield Convention("a tie is shared, NaN counts", pair, gradient=([0.5, 1, 1], [0.5, 1, 1]))


def position_conventions(largest: bool):
    def conventions(make: Make) -> Iterator[Convention]:
        sign = 1 if largest else -1
        at = call(make.put([[2 * sign, sign, 2 * sign], [NAN, 3, NAN]]), 1)
        yield Convention("the first, and of NaN too", at, value=[0, 0])

    return conventions


def nan_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "NaN is the extremum, and has the gradient",
        call(make.put([1, NAN], "float64")),
        "PyTorch -?nan",
    )


ZERO_OF_A_LANE = Tolerance(
    "of two zeros PyTorch takes the one that its vector width happens to", signed_zeros=False
)
OPS = [
    OpInfo(
        functx.amax,
        extremum_samples,
        reference=np_amax,
        refusals=extremum_refusals,
        conventions=shared(True, dims=True),
        tolerances=(EXACT,),
        departures=(nan_departures,),
    ),
    OpInfo(
        functx.amin,
        extremum_samples,
        reference=np_amin,
        refusals=extremum_refusals,
        conventions=shared(False, dims=True),
        tolerances=(EXACT,),
        departures=(nan_departures,),
    ),
    OpInfo(
        functx.aminmax,
        both_samples,
        reference=np_aminmax,
        refusals=both_refusals,
        conventions=both_conventions,
        tolerances=(EXACT,),
        departures=(nan_departures,),
    ),
    OpInfo(
        functx.max,
        along_samples,
        reference=np_max,
        refusals=overloaded_refusals,
        conventions=along_conventions(True),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.max,
        of_all_samples,
        reference=np_amax,
        variant="of_all",
        conventions=shared(True, dims=False),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.max,
        between_samples,
        reference=np_maximum,
        variant="between",
        tolerances=(EXACT, ZERO_OF_A_LANE),
        conventions=between_conventions,
    ),
    OpInfo(
        functx.min,
        along_samples,
        reference=np_min,
        refusals=overloaded_refusals,
        conventions=along_conventions(False),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.min,
        of_all_samples,
        reference=np_amin,
        variant="of_all",
        conventions=shared(False, dims=False),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.min,
        between_samples,
        reference=np_minimum,
        variant="between",
        tolerances=(EXACT, ZERO_OF_A_LANE),
        conventions=between_conventions,
    ),
    OpInfo(
        functx.argmax,
        position_samples,
        reference=np_argmax,
        refusals=position_refusals,
        conventions=position_conventions(True),
    ),
    OpInfo(
        functx.argmin,
        position_samples,
        reference=np_argmin,
        refusals=position_refusals,
        conventions=position_conventions(False),
    ),
]
