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
from .rows import at_edges


def distinct_samples(make: Make) -> Iterator[Sample]:
    """No repetitions among floating values, which finite differences would tear apart."""
    yield call(make.distinct(2, 3))
    yield call(make.distinct(4, 2), -2, True)
    yield call(make.distinct(3, 1, 2), dim=0, keepdim=True)
    yield call(make.distinct())
    yield call(make.distinct(), 0, True)
    yield call(make.distinct(0, 3), 1)
    yield call(make.distinct(2, 0), 0)
    yield from at_edges(make, -1)
    if category(make.dtype) == 2:
        yield edge(make.put([[0.0, -0.0, 1, -1], [np.inf, 1, np.inf, 1], [np.nan, 2, np.nan, 2]]))


def repeated_samples(make: Make) -> Iterator[Sample]:
    few = lambda *shape: make.put(make.rng.integers(0, 3, shape))
    yield call(few(3, 7))
    yield call(few(9, 2), 0)
    yield call(few(2, 6, 2), 1, True)
    yield call(few(200))
    yield call(make.put([2, 2, 1, 1, 1, 0, 0, 0]))
    yield call(make.put([0, 0, 1, 1, 1, 1]), -1)


def mode_refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield from nothing_refusals(make)
    yield Refusal(call(make(2, dtype="complex64")), "expected real arrays", TypeError)
    yield Refusal(call(3), "`input` must be an array, got 3", TypeError)


def np_mode(x, dim=-1, keepdim=False):
    if x.ndim == 0:
        return x, np.zeros((), int)
    rows = np.moveaxis(x, dim, -1)
    indices = np.zeros(rows.shape[:-1], int)
    for at in np.ndindex(indices.shape):
        row = rows[at]
        if np.all(row != row):
            continue
        counts = np.array([np.sum(row == value) for value in row])
        often = row[counts == counts.max()]
        least = np.min(often[often == often]) if (often == often).any() else often[0]
        indices[at] = np.flatnonzero(row == least)[-1]
    indices = np.expand_dims(indices, dim)
    values = np.take_along_axis(x, indices, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def mode_conventions(make: Make) -> Iterator[Convention]:
    nan = np.nan
    values = lambda out: out.values
    tied = call(make.put([3, 1, 2, 1]))
    yield Convention("the last of those that are equal", tied, value=(1, 3))
    yield Convention("its gradient", tied, gradient=[0, 0, 0, 1], through=values)
    yield Convention("the least of the most frequent", call(make.put([3, 3, 1, 1])), value=(1, 3))
    numbers = call(make.put([nan, 2, nan]))
    why = "PyTorch sorts by <, which orders no NaN"
    yield Convention("no NaN equals another", numbers, value=(2, 1), departure=why)
    yield Convention("nothing but NaN", call(make.put([nan, nan])), value=(nan, 0))


def mode_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "value",
        "NaN counts as the greatest and equals nothing: PyTorch sorts by <, which orders no NaN",
        call(make.put([np.nan, 2, np.nan], "float64")),
        r"\bnan\b",
    )


OPS = [
    OpInfo(
        functx.mode,
        distinct_samples,
        reference=np_mode,
        refusals=mode_refusals,
        conventions=mode_conventions,
        departures=(mode_departures,),
        ties_in_any_order=True,
        tolerances=(EXACT,),
        kinked=True,
    ),
    OpInfo(
        functx.mode,
        repeated_samples,
        reference=np_mode,
        variant="repeats",
        dtypes=("bool", "uint8", "int32", "int64"),
        tolerances=(EXACT,),
    ),
]
