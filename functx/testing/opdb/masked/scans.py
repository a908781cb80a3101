from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opdb.reductions.dimensions import dim_refusals
from functx.testing.opdb.reductions.running_products import cumprod_departures
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS

from .masked_calls import kept, mask_refusals, rows, some_in_each_row


def scan_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4), 1, mask=some_in_each_row(make, 2, 4, least=2))
    yield call(make(4, 2), -2, mask=make.mask(4, 1))
    yield call(make(2, 3), 0)
    yield call(make(), 0, mask=make.put(True, bool))
    yield call(make(2, 0), dim=1, mask=make.mask(2, 1))
    yield call(make(2, 3), 1, mask=make.put([2, 0, -1], "int64"))
    yield call(make(2, 3), 1, mask=make.put([[True] * 3, [False] * 3], bool))
    yield call(make(2, 4), 1, dtype="complex128", mask=some_in_each_row(make, 2, 4))
    two = make.put([True, False, True], bool)
    yield call(make.put([200, 3, 100], "uint8"), 0, dtype="int16", mask=two)
    for shape in ((19,), (16, 2), (75,)):
        yield edge(make.nonzero(*shape), 0, mask=make.mask(*shape))
    yield from rows(make)


def refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield from mask_refusals(make, 0)
    yield Refusal(call(make.mask(3), 0), "`dtype` must be a dtype of numbers", TypeError)
    yield Refusal(call(make(3), 0, dtype="bool"), "`dtype` must be a dtype of numbers", TypeError)


def np_cumsum(x, dim, dtype=None, mask=None):
    terms = np.where(kept(x, mask), x, np.zeros_like(x)).astype(dtype or x.dtype)
    return np.cumsum(terms, axis=dim).reshape(x.shape)


def np_cumprod(x, dim, dtype=None, mask=None):
    factors = np.where(kept(x, mask), x, np.ones_like(x)).astype(dtype or x.dtype)
    return np.cumprod(factors, axis=dim).reshape(x.shape)


def scan_conventions(start: int):
    """What there is before the first element, where nothing has been said."""

    def conventions(make: Make) -> Iterator[Convention]:
        mask = make.put([False, True, False], bool)
        for hidden in (np.nan, np.inf, -np.inf):
            yield Convention(
                f"{hidden} is masked out",
                call(make.put([hidden, 2, hidden]), 0, mask=mask),
                value=[start, 2, 2],
                gradient=[0, 2, 0],
                hessian=np.zeros((3, 3)),
            )
        yield Convention(
            "all is masked out",
            call(make.put([np.nan, 2, np.inf]), 0, mask=make.put([False] * 3, bool)),
            value=[start] * 3,
            gradient=[0, 0, 0],
            hessian=np.zeros((3, 3)),
        )
        numbers = call(make.put([4, 2, 8]), 0, mask=make.put([0.0, np.nan, -0.0]))
        yield Convention("a mask of numbers", numbers, value=[start, 2, 2])
        large = call(make.put([7e4, 0]), 0, dtype="float16")
        yield Convention(
            "the input is cast first", large, value=[np.inf, np.inf if start == 0 else np.nan]
        )

    return conventions


OPS = [
    OpInfo(
        functx.masked.cumsum,
        scan_samples,
        reference=np_cumsum,
        refusals=refusals,
        dtypes=Accepts.NUMBER.value,
        tolerances=(SUMS,),
        conventions=scan_conventions(0),
    ),
    OpInfo(
        functx.masked.cumprod,
        scan_samples,
        reference=np_cumprod,
        refusals=refusals,
        dtypes=Accepts.NUMBER.value,
        conventions=scan_conventions(1),
        departures=(cumprod_departures,),
        kinked=True,
    ),
]
