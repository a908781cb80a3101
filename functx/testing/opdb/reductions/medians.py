from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT

from .dimensions import dim_refusals, nothing_refusals
from .rows import at_edges, far


def along_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3), 1)
    yield call(make.distinct(4, 2), -2, True)
    yield call(make.distinct(3, 1, 2), dim=0, keepdim=True)
    yield call(make(2, 5), 1)
    yield call(make.distinct(), 0)
    yield call(make.distinct(2, 0), 0)
    yield from at_edges(make, -1)


def of_all_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3))
    yield call(make.distinct(5))
    yield call(make.distinct())
    yield edge(far(make, 2, 3))
    if category(make.dtype) == 1:
        yield edge(make.put(np.iinfo(make.dtype).max - np.arange(3)))
    if category(make.dtype) == 2:
        yield edge(make.put([1, np.nan, 2]))
        yield edge(make.put([np.inf, np.inf, 1]))


def among_nans(make: Make) -> Iterator[Sample]:
    nan, inf = np.nan, np.inf
    if category(make.dtype) == 2:
        rows = [[nan, 1, -inf, 2], [nan, nan, 3, 2], [nan] * 4, [inf, nan, nan, inf]]
        yield edge(make.put(rows), 1, True)


def nan_along_samples(make: Make) -> Iterator[Sample]:
    yield from along_samples(make)
    yield from among_nans(make)


def nan_of_all_samples(make: Make) -> Iterator[Sample]:
    yield from of_all_samples(make)
    if category(make.dtype) == 2:
        yield edge(make.put([[np.nan, 4, np.inf], [1, np.nan, np.nan]]))
        yield edge(make.put([np.nan, np.nan]))


def median_refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield from nothing_refusals(make)
    yield Refusal(call(make(2), keepdim=True), "`keepdim` goes with `dim`", TypeError)
    yield Refusal(call(make.mask(2)), "expected real number arrays", TypeError)


def np_median(x, dim=None, keepdim=False):
    if dim is None:
        return np_median(x.reshape(-1), 0)[0]
    if x.ndim == 0:
        return x, np.zeros((), int)
    order = np.argsort(x, axis=dim, kind="stable")
    indices = np.take(order, [(x.shape[dim] - 1) // 2], axis=dim)
    nan = x != x
    first = np.argmax(nan, axis=dim, keepdims=True)
    indices = np.where(np.any(nan, axis=dim, keepdims=True), first, indices)
    values = np.take_along_axis(x, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def np_nanmedian(x, dim=None, keepdim=False):
    if dim is None:
        return np_nanmedian(x.reshape(-1), 0)[0]
    if x.ndim == 0:
        return x, np.zeros((), int)
    order = np.argsort(x, axis=dim, kind="stable")
    count = np.sum(x == x, axis=dim, keepdims=True)
    indices = np.take_along_axis(order, np.maximum(count - 1, 0) // 2, dim)
    values = np.take_along_axis(x, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def kthvalue_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3), 2)
    yield call(make.distinct(4, 2), 4, -2, True)
    yield call(make.distinct(3, 1, 2), k=1, dim=0, keepdim=True)
    yield call(make.distinct(5), 5, 0)
    yield call(make(2, 5), 3, 1)
    yield call(make.distinct(), 1)
    yield call(make.distinct(), 1, 0, True)
    yield call(make.distinct(0, 3), 2, 1)
    for k in (1, 3, 4):
        yield from at_edges(make, k)


def kthvalue_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2), 3, 0), r"`k` must lie in \[1, 2\] along dim", ValueError)
    yield Refusal(call(make(2, 2), 3), r"`k` must lie in \[1, 2\] along dim", ValueError)
    yield Refusal(
        call(make(2), 0), r"`k` must lie in \[1, 2\] along dimension 0, got 0", ValueError
    )
    yield Refusal(call(make(), 3), r"`k` must lie in \[1, 1\] along dimension 0, got 3", ValueError)
    yield Refusal(call(make(2), 1.0), "`k` must be an int", TypeError)
    yield Refusal(call(make(2), True), "`k` must be an int", TypeError)
    yield Refusal(call(3, 1), "`input` must be an array, got 3", TypeError)
    yield Refusal(call(make(2, 3), 1, 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(2, 0), 1), "dimension 1 must not be empty", IndexError)
    yield Refusal(call(make.mask(2), 1), "expected real number arrays", TypeError)


def np_kthvalue(x, k, dim=-1, keepdim=False):
    if x.ndim == 0:
        return x, np.zeros((), int)
    order = np.argsort(x, axis=dim, kind="stable")
    indices = np.take(order, [k - 1], axis=dim)
    values = np.take_along_axis(x, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def kthvalue_conventions(make: Make) -> Iterator[Convention]:
    values = lambda out: out.values
    tied = call(make.put([3, 2, 1, 2]), 3)
    yield Convention("one of those that tie", tied, gradient=[0, 0, 0, 1], through=values)
    nans = call(make.put([[np.nan, 1, 2], [3, np.nan, np.nan]]), 2, 1)
    yield Convention("NaN is the greatest", nans, value=([2, np.nan], [2, 1]))
    nan = call(make.put([3, np.nan, np.nan]), 3)
    yield Convention("the gradient of NaN", nan, gradient=[0, 0, 1], through=values)


def nan_along_conventions(make: Make) -> Iterator[Convention]:
    values = lambda out: out.values
    tied = call(make.put([2, np.nan, 2, 1, 2]), 0)
    yield Convention("one of those that tie", tied, gradient=[1, 0, 0, 0, 0], through=values)
    nans = call(make.put([np.nan, np.nan]), 0)
    yield Convention("the first of nothing but NaN", nans, gradient=[1, 0], through=values)


def nan_of_all_conventions(make: Make) -> Iterator[Convention]:
    tied = call(make.put([1, np.nan, 2, 2, 3]))
    yield Convention("ties share", tied, value=2, gradient=[0, 0, 0.5, 0.5, 0])
    nans = call(make.put([np.nan, np.nan]))
    yield Convention("NaN share", nans, value=np.nan, gradient=[0.5, 0.5])
    yield Convention("of nothing", call(make.put([])), value=np.nan, gradient=[])


def along_conventions(make: Make) -> Iterator[Convention]:
    values = lambda out: out.values
    tied = call(make.put([1, 2, 2, 3]), 0)
    yield Convention("one of those that tie", tied, gradient=[0, 1, 0, 0], through=values)
    nans = call(make.put([[2, 1, 2], [np.nan, 3, np.nan]]), 1)
    yield Convention("positions, and the first NaN", nans, value=([2, np.nan], [0, 0]))


def of_all_conventions(make: Make) -> Iterator[Convention]:
    tied = call(make.put([1, 2, 2, 3]))
    yield Convention("ties share", tied, gradient=[0, 0.5, 0.5, 0])
    nans = call(make.put([1, np.nan, np.nan]))
    yield Convention("NaN share", nans, value=np.nan, gradient=[0, 0.5, 0.5])


def of_all_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "value",
        "of no integers PyTorch makes NaN an integer, which is undefined",
        call(make.put(np.zeros(0), "int16")),
        r"median\([iu]\d+\[[\d,]*\b0\b",
    )


OPS = [
    OpInfo(
        functx.median,
        along_samples,
        reference=np_median,
        refusals=median_refusals,
        conventions=along_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.median,
        of_all_samples,
        reference=np_median,
        variant="of_all",
        conventions=of_all_conventions,
        departures=(of_all_departures,),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.nanmedian,
        nan_along_samples,
        reference=np_nanmedian,
        refusals=median_refusals,
        conventions=nan_along_conventions,
        tolerances=(EXACT,),
        kinked=True,
    ),
    OpInfo(
        functx.nanmedian,
        nan_of_all_samples,
        reference=np_nanmedian,
        variant="of_all",
        conventions=nan_of_all_conventions,
        departures=(of_all_departures,),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.kthvalue,
        kthvalue_samples,
        reference=np_kthvalue,
        refusals=kthvalue_refusals,
        conventions=kthvalue_conventions,
        ties_in_any_order=True,
        tolerances=(EXACT,),
    ),
]
