from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import call, Convention, OpInfo, Refusal, Sample

from .dimensions import dim_refusals, nothing_refusals


def along_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3), 1)
    yield call(make.distinct(4, 2), -2, True)
    yield call(make.distinct(3, 1, 2), dim=0, keepdim=True)
    yield call(make(2, 5), 1)
    yield call(make.distinct(), 0)
    yield call(make.distinct(2, 0), 0)


def of_all_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3))
    yield call(make.distinct(5))
    yield call(make.distinct())


def median_refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield from nothing_refusals(make)
    yield Refusal(call(make(2), keepdim=True), "`keepdim` goes with `dim`", TypeError)
    yield Refusal(call(make.mask(2)), "expected real number arrays", TypeError)


def np_median(x, dim=None, keepdim=False):
    if dim is None:
        return np.sort(x, axis=None)[(x.size - 1) // 2]
    if x.ndim == 0:
        return x, np.zeros((), int)
    middle = [(x.shape[dim] - 1) // 2]
    values = np.take(np.sort(x, axis=dim), middle, axis=dim)
    indices = np.take(np.argsort(x, axis=dim, kind="stable"), middle, axis=dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


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


OPS = [
    OpInfo(
        functx.median,
        along_samples,
        reference=np_median,
        refusals=median_refusals,
        conventions=along_conventions,
    ),
    OpInfo(
        functx.median,
        of_all_samples,
        reference=np_median,
        variant="of_all",
        conventions=of_all_conventions,
    ),
]
