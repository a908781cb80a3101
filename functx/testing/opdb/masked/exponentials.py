from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.floors import SUMS
from functx.testing.make import Make
from functx.testing.opdb.reductions.dimensions import dims_refusals
from functx.testing.opinfo import call, Convention, Departure, edge, OpInfo, Refusal, Sample

from .masked_calls import (
    bools_accepted,
    BOOLS_MASKED,
    mask_refusals,
    nothing_left,
    of_numbers,
    over_kept,
    over_several,
    unheard,
)


def logsumexp_samples(make: Make) -> Iterator[Sample]:
    yield from over_several(make)
    yield call(make(2, 0), -1, mask=make.mask(2, 1))
    two = make.put([True, False, True], bool)
    yield call(make(2, 3, dtype="float64"), 1, dtype="complex128", mask=two)
    yield call(make(2, 3, dtype="uint8"), dtype="float32", mask=make.mask(2, 1))
    yield edge(make.put([[250, 250, 1], [3, 90, 3]], "uint8"), 1, mask=make.mask(2, 3))


def refusals(make: Make) -> Iterator[Refusal]:
    yield from dims_refusals(make)
    yield from mask_refusals(make)


def np_logsumexp(x, dim=None, keepdim=False, dtype=None, mask=None):
    wide = x if x.dtype.kind in "fc" else x.astype(np.float32).astype(np.float64)

    def of_row(row):
        if np.iscomplexobj(row):
            return np.log(np.sum(np.exp(row)))
        return np.logaddexp.reduce(row)

    out = over_kept(of_row, wide, dim, keepdim, mask)
    if x.dtype.kind in "ui" and dtype is None:
        limits = np.iinfo(x.dtype)
        below, above = out < limits.min, out >= float(limits.max)
        whole = np.where(below | above, 0, out).astype(x.dtype)
        out = np.where(below, limits.min, np.where(above, limits.max, whole))
    return out


def logsumexp_conventions(make: Make) -> Iterator[Convention]:
    inf = np.inf
    yield from unheard(2, make=make, slope=1)
    yield of_numbers(make, value=2)
    yield nothing_left(-inf, make=make)
    mask = make.put([True, False, True], bool)
    tied = call(make.put([1, 5, 1]), 0, mask=mask)
    quarter = np.array([[1, 0, -1], [0, 0, 0], [-1, 0, 1]]) / 4
    yield Convention("a tie", tied, gradient=[0.5, 0, 0.5], hessian=quarter)
    yield Convention(
        "infinity",
        call(make.put([inf, 1, 2]), 0, mask=mask),
        value=inf,
        gradient=[0, 0, 0],
        departure="PyTorch's gradient is NaN",
    )


def logsumexp_departures(make: Make) -> Iterator[Departure]:
    yield from bools_accepted(make)
    yield Departure(
        "value",
        call(make.put([0, 9, 9], "uint8"), mask=make.put([True, False, False], bool)),
        "what is masked out is not there, where PyTorch counts it as the least integer",
        r"logsumexp\([ui]8\[.*mask=(?!None)",
    )


OPS = [
    OpInfo(
        functx.masked.logsumexp,
        logsumexp_samples,
        reference=np_logsumexp,
        refusals=refusals,
        floor=SUMS,
        conventions=logsumexp_conventions,
        departures=logsumexp_departures,
        own_dtypes=BOOLS_MASKED,
    ),
]
