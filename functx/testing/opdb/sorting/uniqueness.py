from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opdb.reductions.rows import at_edges, far
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT


def scaled(make: Make, n: int):
    """Distinct values, of floating ones others in each lane."""
    return make.distinct(n) * make(low=1, high=1.2)


def distinct_samples(make: Make) -> Iterator[Sample]:
    """No repetitions among floating values, which finite differences would tear apart."""
    yield call(make.distinct(2, 3), return_inverse=True)
    yield call(make.distinct(3, 2), dim=0)
    yield call(make.distinct(2, 3), True, True, True, -1)
    yield call(scaled(make, 3), sorted=False, return_counts=True)
    yield call(make.distinct(), return_inverse=True, return_counts=True)
    yield call(scaled(make, 4), size=6, fill_value=1, return_counts=True)
    yield call(make.distinct(0, 2), return_inverse=True, return_counts=True)
    yield call(make.distinct(0, 2), return_inverse=True, dim=0)
    yield from at_edges(make, return_inverse=True)


def repeated_samples(make: Make) -> Iterator[Sample]:
    few = lambda *shape: make.put(make.rng.integers(0, 2, shape))
    yield call(few(6), return_inverse=True, return_counts=True)
    yield call(few(2, 3), return_counts=True)
    yield call(few(4, 2), return_inverse=True, return_counts=True, dim=0)
    yield call(few(2, 3, 2), return_inverse=True, dim=-2)
    yield call(few(6), size=1, return_inverse=True, return_counts=True)
    yield call(few(4, 2), size=5, return_inverse=True, return_counts=True, dim=0)
    yield edge(far(make, 2, 2, 4), return_counts=True)


def unique_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), dim=2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(), dim=0), "`dim` must be None for a 0-d array", IndexError)
    yield Refusal(call(make(2, 0), dim=0), "must not be empty in a dimension other than `dim`")
    yield Refusal(call(make(2, dtype="complex64")), "expected real arrays", TypeError)


def np_unique(
    x,
    sorted=True,
    return_inverse=False,
    return_counts=False,
    dim=None,
    size=None,
    fill_value=0,
):
    values, inverse, counts = np.unique(
        x, return_inverse=True, return_counts=True, axis=dim, equal_nan=False
    )
    if size is not None:
        axis, have = dim or 0, min(len(counts), size)
        shape = [size if d == axis % values.ndim else n for d, n in enumerate(values.shape)]
        out = np.full(shape, fill_value, values.dtype)
        np.moveaxis(out, axis, 0)[:have] = np.moveaxis(values, axis, 0)[:size]
        values, counts = out, np.pad(counts[:have], (0, size - have))
    inverse = inverse.reshape(x.shape if dim is None else -1)
    out = [values, *[inverse] * return_inverse, *[counts] * return_counts]
    return out[0] if len(out) == 1 else tuple(out)


def distinct_runs(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3), return_inverse=True)
    yield call(make.distinct(3, 2), dim=0)
    yield call(make.distinct(2, 3), True, True, -1)
    yield call(make.distinct(3), return_counts=True)
    yield call(make.distinct(), return_inverse=True, return_counts=True)
    yield call(make.distinct(4), size=6, fill_value=1, return_counts=True)
    yield call(make.distinct(0, 2), return_inverse=True, return_counts=True)
    yield call(make.distinct(0, 2), return_inverse=True, dim=0)
    yield from at_edges(make, return_inverse=True)


def repeated_runs(make: Make) -> Iterator[Sample]:
    few = lambda *shape: make.put(make.rng.integers(0, 2, shape))
    yield call(few(7), return_inverse=True, return_counts=True)
    yield call(few(2, 5), return_counts=True)
    yield call(few(6, 2), return_inverse=True, return_counts=True, dim=0)
    yield call(few(2, 6, 1), return_inverse=True, dim=-2)
    yield call(few(6), size=1, return_inverse=True, return_counts=True)
    yield call(few(4, 2), size=5, return_inverse=True, return_counts=True, dim=0)
    yield call(make.put([1, 1, 0, 0, 1]), fill_value=3, size=4)
    yield edge(far(make, 2, 2, 4), return_counts=True)


def np_unique_consecutive(
    x, return_inverse=False, return_counts=False, dim=None, size=None, fill_value=0
):
    rows = x.reshape(-1) if dim is None else np.moveaxis(x, dim, 0)
    differs = np.any(rows[1:] != rows[:-1], axis=tuple(range(1, rows.ndim)))
    starts = np.concatenate([np.ones(min(len(rows), 1), bool), differs])
    inverse = np.cumsum(starts) - 1
    values, counts = rows[starts], np.bincount(inverse, minlength=starts.sum())
    if size is not None:
        have = min(len(counts), size)
        out = np.full((size, *values.shape[1:]), fill_value, values.dtype)
        out[:have] = values[:size]
        values, counts = out, np.pad(counts[:have], (0, size - have))
    values = values if dim is None else np.moveaxis(values, 0, dim)
    inverse = inverse.reshape(x.shape if dim is None else -1)
    out = [values, *[inverse] * return_inverse, *[counts] * return_counts]
    return out[0] if len(out) == 1 else tuple(out)


def runs_conventions(make: Make) -> Iterator[Convention]:
    yield Convention(
        "the first of a run has the gradient",
        call(make.put([3.0, 3.0, 1.0, 3.0]), size=3),
        value=[3, 1, 3],
        through=lambda y: y[0],
        gradient=[1, 0, 0, 0],
        departure="PyTorch has no gradient here",
    )
    special = call(make.put([0.0, -0.0, np.nan, np.nan]), size=3)
    yield Convention("zeros are equal, NaN are not", special, value=[0, np.nan, np.nan])


def unique_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([3.0, 1.0, 3.0]), size=2)
    yield Convention(
        "the first occurrence has the gradient",
        at,
        value=[1, 3],
        through=lambda y: y[1],
        gradient=[1, 0, 0],
        departure="PyTorch has no gradient here",
    )


def unique_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "value",
        "rows are in their order, NaN as the greatest: PyTorch compares by <, which orders no NaN",
        call(make.put([[0.5, 0.001, np.nan], [-1, np.inf, -2.5]], "float64"), True, True, True, -1),
        r"\bnan\b",
    )


OPS = [
    OpInfo(
        functx.unique,
        distinct_samples,
        reference=np_unique,
        refusals=unique_refusals,
        conventions=unique_conventions,
        departures=(unique_departures,),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.unique,
        repeated_samples,
        reference=np_unique,
        variant="repeats",
        dtypes=("bool", "uint8", "int32", "int64"),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.unique_consecutive,
        distinct_runs,
        reference=np_unique_consecutive,
        refusals=unique_refusals,
        conventions=runs_conventions,
        gaps=(Gap("limits", "of equal elements all but one are left out"),),
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.unique_consecutive,
        repeated_runs,
        reference=np_unique_consecutive,
        variant="repeats",
        dtypes=("bool", "uint8", "int32", "int64"),
        tolerances=(EXACT,),
    ),
]
