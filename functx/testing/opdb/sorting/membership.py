from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opdb.reductions.rows import far
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge


def few(make: Make, *shape: int):
    """Numbers of which many are equal."""
    return make.put(make.rng.integers(0, 5, shape))


def isin_samples(make: Make) -> Iterator[Sample]:
    yield call(few(make, 2, 3), few(make, 4))
    yield call(few(make, 6), few(make, 2, 2), invert=True)
    yield call(make.put([3, 1, 2]), make.put([2, 5, 3]), assume_unique=True)
    yield call(few(make, 5), 2)
    yield call(3, few(make, 4), invert=True)
    yield call(few(make), few(make, 3))
    yield call(few(make, 3), few(make))
    yield call(few(make, 3), few(make, 0))
    yield call(few(make, 0), few(make, 3), invert=True)
    yield call(few(make, 4), few(make, 3).astype("float32"))
    many = make.put(make.rng.permutation(100)[:80])
    yield call(make.put(make.rng.integers(0, 100, (2, 9))), many)
    yield call(make.put(make.rng.integers(0, 100, 9)), many, invert=True)
    numbers = far(make, 1, 2, 2, 4)
    yield edge(numbers, numbers.reshape(-1)[::2])
    if category(make.dtype) == 2:
        special = make.put([np.nan, np.inf, -np.inf, 0.0, -0.0, 1])
        yield edge(special, make.put([np.nan, -np.inf, -0.0]))
        yield edge(special, make.put([*range(70), np.nan, -np.inf]), invert=True)


def isin_refusals(make: Make) -> Iterator[Refusal]:
    x, mask = make(3), make.mask(2)
    yield Refusal(call(1, 2), "`elements` or `test_elements` must be an array", TypeError)
    yield Refusal(call(x, mask), "`test_elements` must be numbers, got bool", TypeError)
    yield Refusal(call(mask, x), "`elements` must be numbers, got bool", TypeError)
    yield Refusal(call(x, True), "`test_elements` must be numbers, got bool", TypeError)
    yield Refusal(call(make(2, dtype="complex64"), x), "expected real arrays", TypeError)
    yield Refusal(call(x, [1, 2]), "`test_elements` must be an array", TypeError)


def np_isin(elements, test_elements, assume_unique=False, invert=False):
    return np.isin(elements, test_elements, invert=invert)


def isin_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([np.nan, 0.0, 2]), make.put([np.nan, -0.0, 1]))
    yield Convention("zeros are equal, NaN are not", at, value=[False, True, False])
    half = call(make.put([0.1], "float16"), 0.1)
    yield Convention("a number is rounded to what it meets", half, value=[True])
    repeated = call(make.put([1, 1, 2]), make.put([1]), assume_unique=True)
    yield Convention("a promise that is broken", repeated, value=[True, True, False])


OPS = [
    OpInfo(
        functx.isin,
        isin_samples,
        reference=np_isin,
        refusals=isin_refusals,
        conventions=isin_conventions,
        dtypes=Accepts.REAL_NUMBER.value,
    ),
]
