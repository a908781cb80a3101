from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opdb.reductions.rows import far
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge


def ascending(make: Make, *shape: int):
    return make.put(np.sort(np.asarray(make(*shape)), axis=-1))


def searchsorted_samples(make: Make) -> Iterator[Sample]:
    yield call(ascending(make, 5), make(2, 3))
    yield call(ascending(make, 2, 4), make(2, 3), right=True)
    yield call(make.put([1, 2, 2, 3]), make.put([2, 3, 1]), side="right", out_int32=True)
    yield call(ascending(make, 4), make(dtype="float64"), side="left", right=False)
    yield call(ascending(make, 3), 1)
    yield call(ascending(make, 3), input=ascending(make, 3), right=True, side="right")
    unsorted = make(5)
    order = make.put(np.argsort(np.asarray(unsorted), kind="stable"), "int64")
    yield call(unsorted, make(4), sorter=order)
    yield call(ascending(make, 0), make(2))
    yield call(ascending(make, 2, 3), make(2, 0))
    ordered = make.put(np.sort(np.asarray(far(make, 1, 2, 2, 4)), axis=-1))
    yield edge(ordered, far(make, 1, 2, 2, 3))
    if category(make.dtype) == 2:
        yield edge(make.put([-np.inf, 0, 1, np.inf]), make.put([[np.inf, 0.5], [-np.inf, 1]]))


def searchsorted_refusals(make: Make) -> Iterator[Refusal]:
    x, values = ascending(make, 3), make(2)
    yield Refusal(call(x, values, side="middle"), "`side` must be", ValueError)
    yield Refusal(call(x, values, side="left", right=True), "must not be 'left'", ValueError)
    yield Refusal(call(make(), values), "`sorted_sequence` must have a dimension")
    yield Refusal(call(ascending(make, 2, 3), make(2)), "must be a vector or agree")
    yield Refusal(call(ascending(make, 1, 3), 1), "must be a vector or agree")
    yield Refusal(call(x, values, sorter=make.index(3, 2)), "`sorter` must have the shape")
    yield Refusal(
        call(x, values, sorter=make.put([0, 1, 3], "int64")),
        r"`sorter` must lie in \[0, 2\], got 3",
        IndexError,
    )
    yield Refusal(call(x, values, sorter=make(3, low=0, high=0.4)), "must be int64", TypeError)
    yield Refusal(call(x, make(2, dtype="complex64")), "expected real arrays", TypeError)
    mask = make.put([False, True], "bool")
    yield Refusal(call(mask, mask), "expected numbers on one side", TypeError)


def np_searchsorted(x, input, out_int32=False, right=False, side=None, sorter=None):
    right, input = right or side == "right", np.asarray(input)
    x = x if sorter is None else np.take_along_axis(x, sorter, -1)
    rows = np.broadcast_to(x, (*input.shape[:-1], x.shape[-1])) if x.ndim == 1 else x
    out = np.zeros(input.shape, "int32" if out_int32 else "int64")
    for at in np.ndindex(input.shape):
        out[at] = bisected(rows[at[:-1]], input[at], right)
    return out


def bisected(row, value, right):
    """In halves, also where the row is not sorted: NumPy's way differs from version to version."""
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) // 2
        if row[middle] > value if right else row[middle] >= value:
            high = middle
        else:
            low = middle + 1
    return low


def searchsorted_conventions(make: Make) -> Iterator[Convention]:
    for right, value in ((False, [3, 1, 3]), (True, [3, 3, 3])):
        at = call(make.put([1, 2, np.nan]), make.put([np.nan, 2, 5]), right=right)
        yield Convention("NaN, on the right" if right else "NaN", at, value=value)
    mask = make.put([False, True], "bool")
    yield Convention("numbers among bools", call(mask, make.put([0.5, 1, 2])), value=[1, 1, 2])


def bucketize_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), ascending(make, 5))
    yield call(make.put([2, 3, 1]), make.put([1, 2, 2, 3]), right=True)
    yield call(make.put([2, 3, 1]), make.put([1, 2, 2, 3]), out_int32=True)
    yield call(1, ascending(make, 3), right=True, out_int32=True)
    yield call(make(dtype="float64"), ascending(make, 4))
    yield call(make(2), ascending(make, 0))
    yield call(make(2, 0), ascending(make, 3))
    ordered = make.put(np.sort(np.asarray(far(make, 6))))
    yield edge(far(make, 1, 2, 2, 3), ordered, right=True)
    if category(make.dtype) == 2:
        yield edge(make.put([[np.inf, 0.5], [-np.inf, 1]]), make.put([-np.inf, 0, 1, np.inf]))


def bucketize_refusals(make: Make) -> Iterator[Refusal]:
    message = "`boundaries` must have 1 dimension"
    yield Refusal(call(make(2), ascending(make, 2, 3)), message)
    yield Refusal(call(make(2), make()), message)
    yield Refusal(call(make(2), 1), "`boundaries` must be an array, got 1", TypeError)
    yield Refusal(call(make(2, dtype="complex64"), make(2)), "expected real arrays", TypeError)
    mask = make.put([False, True], "bool")
    yield Refusal(call(mask, mask), "expected numbers on one side", TypeError)


def np_bucketize(input, boundaries, out_int32=False, right=False):
    return np_searchsorted(boundaries, input, out_int32, right)


def bucketize_conventions(make: Make) -> Iterator[Convention]:
    for right, value in ((False, [3, 1, 3]), (True, [3, 3, 3])):
        at = call(make.put([np.nan, 2, 5]), make.put([1, 2, np.nan]), right=right)
        yield Convention("NaN, on the right" if right else "NaN", at, value=value)
    mask = make.put([False, True], "bool")
    yield Convention("numbers among bools", call(make.put([0.5, 1, 2]), mask), value=[1, 1, 2])


OPS = [
    OpInfo(
        functx.searchsorted,
        searchsorted_samples,
        reference=np_searchsorted,
        refusals=searchsorted_refusals,
        conventions=searchsorted_conventions,
        dtypes=Accepts.REAL_NUMBER.value,
    ),
    OpInfo(
        functx.bucketize,
        bucketize_samples,
        reference=np_bucketize,
        refusals=bucketize_refusals,
        conventions=bucketize_conventions,
        dtypes=Accepts.REAL_NUMBER.value,
    ),
]
