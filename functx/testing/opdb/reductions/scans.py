from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT, SUMS

from .dimensions import dim_refusals
from .rows import at_edges, far, not_finite
from .running_products import cumprod_departures


LONG = [(19,), (16, 2), (75,)]  # several blocks of 8, and with a rest; blocks of blocks


def scan_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1)
    yield call(make(4, 2), -2)
    yield call(make(), 0)
    yield call(make(2, 0), dim=1)
    yield call(make(9, 0), dim=0)
    yield call(make(3), 0, dtype="complex128")
    yield call(make(3, dtype="uint8"), 0, dtype="int16")
    yield from (edge(make.nonzero(*shape), 0) for shape in LONG)
    yield from at_edges(make, -1)


def cumprod_of_zeros_samples(make: Make) -> Iterator[Sample]:
    for zeros in (1, 2):
        rows = np.asarray(make.nonzero(2, 2))
        yield call(make.put(np.concatenate([rows[:1], np.zeros((zeros, 2)), rows[1:]])), 0)
    yield from at_edges(make, -1)


def cummax_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 4), 1)
    yield call(make.distinct(4, 2), -2)
    yield call(make.distinct(), 0)
    yield call(make.distinct(2, 0), dim=1)
    yield call(make.distinct(9, 0), 0)  # blocks of nothing
    yield call(make(19, 2), 0)  # with ties
    yield from (edge(make(*shape), 0) for shape in LONG)
    yield from at_edges(make, -1)


def diff_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4), 2, prepend=make(2, 1), append=make(2, 2))
    yield call(make(2, 3))
    yield call(make(3, 2), dim=0, append=make(1, 2))
    yield call(make(2, 3), 0, prepend=make(2, 1))
    yield call(make(2, 3), 5)
    yield call(make(3), 1, -1, make(1))
    yield call(make(0, 2), 1, 0)
    first, last = far(make, 1, 2, 2, 1), far(make, 1, 2, 2, 2)
    yield edge(far(make, 1, 2, 2, 4), 1, prepend=first, append=last)
    if category(make.dtype) == 2:
        rows = not_finite(make)
        yield edge(rows, 1, prepend=rows[:, :3], append=rows[:, 1:])


def bool_refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield Refusal(call(make.mask(3), 0, dtype="bool"), "`dtype` must be", TypeError)


def diff_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make()), "`input` must have a dimension")
    yield Refusal(call(make(3), -1), "`n` must not be negative")
    yield Refusal(call(make(3), 1, 1), "`dim` must lie in", IndexError)
    yield Refusal(call(make(2, 3), prepend=make(3)), "`prepend` must have the shape of")
    yield Refusal(call(make(2, 3), append=make(3, 1)), "`append` must have the shape of")


def np_cumsum(x, dim, dtype=None):
    return np.cumsum(x.astype(dtype or x.dtype), axis=dim).reshape(x.shape)


def np_cumprod(x, dim, dtype=None):
    return np.cumprod(x.astype(dtype or x.dtype), axis=dim).reshape(x.shape)


def np_running(x, dim, wins):
    """The elements that win over all before them, and where they are."""
    if x.ndim == 0:
        return x, np.zeros((), int)
    x = np.moveaxis(x, dim, 0)
    indices = np.zeros(x.shape, int)
    for i in range(1, len(x)):
        best = np.take_along_axis(x, indices[i - 1 : i], 0)[0]
        indices[i] = np.where(wins(x[i], best) | (x[i] != x[i]), i, indices[i - 1])
    values = np.take_along_axis(x, indices, 0)
    return np.moveaxis(values, 0, dim), np.moveaxis(indices, 0, dim)


def np_cummax(x, dim):
    return np_running(x, dim, np.greater_equal)


def np_cummin(x, dim):
    return np_running(x, dim, np.less_equal)


def np_diff(x, n=1, dim=-1, prepend=None, append=None):
    if n:
        x = np.concatenate([y for y in (prepend, x, append) if y is not None], axis=dim)
    return np.diff(x, n, axis=dim)


def cumsum_conventions(make: Make) -> Iterator[Convention]:
    large = call(make.put([7e4, -7e4]), 0, dtype="float16")
    yield Convention("the input is cast first", large, value=[np.inf, np.nan])


def cumprod_conventions(make: Make) -> Iterator[Convention]:
    large = call(make.put([7e4, 0]), 0, dtype="float16")
    yield Convention("the input is cast first", large, value=[np.inf, np.nan])
    zeros = call(make.put([0, 2, 0, 3]), 0)
    yield Convention("zeros", zeros, value=[0, 0, 0, 0], gradient=[3, 0, 0, 0])
    yield Convention("one zero", call(make.put([2, 0, 3]), 0), gradient=[1, 8, 0])
    yield Convention(
        "two zeros",
        call(make.put([0, 0, 3]), 0),
        through=lambda y: y[2],
        hessian=[[0, 3, 0], [3, 0, 0], [0, 0, 0]],
    )


def cummax_conventions(make: Make) -> Iterator[Convention]:
    values = lambda out: out.values
    tied = call(make.put([1, 3, 3, 2]), 0)
    yield Convention("the last of those that tie", tied, gradient=[1, 1, 2, 0], through=values)
    nans = call(make.put([1, np.nan, 2]), 0)
    yield Convention("NaN stays", nans, gradient=[1, 2, 0], through=values)
    at = call(make.put([[2, 1, 2], [np.nan, 3, np.nan]]), 1)
    yield Convention("positions", at, value=(None, [[0, 0, 2], [0, 0, 2]]))


def cummin_conventions(make: Make) -> Iterator[Convention]:
    values = lambda out: out.values
    tied = call(make.put([3, 1, 1, 2]), 0)
    yield Convention("the last of those that tie", tied, gradient=[1, 1, 2, 0], through=values)
    nans = call(make.put([3, np.nan, 2]), 0)
    yield Convention("NaN stays", nans, gradient=[1, 2, 0], through=values)
    at = call(make.put([[2, 3, 2], [np.nan, 1, np.nan]]), 1)
    yield Convention("positions", at, value=(None, [[0, 0, 2], [0, 0, 2]]))


OPS = [
    OpInfo(
        functx.cumsum,
        scan_samples,
        reference=np_cumsum,
        refusals=bool_refusals,
        tolerances=(SUMS,),
        conventions=cumsum_conventions,
    ),
    OpInfo(
        functx.cumprod,
        scan_samples,
        reference=np_cumprod,
        refusals=bool_refusals,
        departures=(cumprod_departures,),
    ),
    OpInfo(
        functx.cumprod,
        cumprod_of_zeros_samples,
        reference=np_cumprod,
        variant="zeros",
        dtypes=Accepts.INEXACT.value,
        conventions=cumprod_conventions,
    ),
    OpInfo(
        functx.cummax,
        cummax_samples,
        reference=np_cummax,
        refusals=dim_refusals,
        conventions=cummax_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.cummin,
        cummax_samples,
        reference=np_cummin,
        refusals=dim_refusals,
        conventions=cummin_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.diff, diff_samples, reference=np_diff, refusals=diff_refusals, tolerances=(SUMS,)
    ),
]
