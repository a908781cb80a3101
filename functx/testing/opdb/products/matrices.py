"""Samples of the products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def matmul_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(3, 2))
    yield call(make(2, 1, 2, 3), make(2, 3, 2))
    yield call(make(3), make(3))
    yield call(make(2, 3), make(3))
    yield call(make(3), make(2, 3, 2))
    yield call(make(1, 2, 3), make(4, 3, 1))
    yield call(make(2, 0), make(0, 3))
    yield call(make(0, 2), make(2))


def matmul_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(), make(2)), "must have at least 1 dimension")
    yield Refusal(call(make(2, 3), make(2, 3)), "must be as long as the rows of `other`")
    yield Refusal(call(make(2, 2, 3), make(3, 3, 2)), "matmul")
    yield Refusal(call(make(2, 2), make(2, 2, dtype="float16")), "dtype", TypeError)
    yield Refusal(call(make.mask(2, 2), make.mask(2, 2)), "expected number", TypeError)


def mm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(3, 2))
    yield call(make(2, 0), make(0, 3))
    yield call(make(0, 2), make(2, 1))


def mm_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2, 2), make(2, 2)), "`input` must have 2 dimensions")
    yield Refusal(call(make(2, 3), make(2, 3)), "`mat2` must have 3 rows")


def bmm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 2, 3), make(2, 3, 2))
    yield call(make(1, 3, 1), make(1, 1, 2))
    yield call(make(0, 2, 3), make(0, 3, 1))
    yield call(make(2, 2, 0), make(2, 0, 2))
    yield call(make(64, 3, 3), make(64, 3, 3))  # many small ones, which are multiplied otherwise


def bmm_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2), make(2, 2)), "`input` must have 3 dimensions")
    yield Refusal(call(make(2, 2, 2), make(1, 2, 2)), "must be as many matrices")
    yield Refusal(call(make(2, 2, 3), make(2, 2, 3)), "`mat2` must have 3 rows")


def mv_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(3))
    yield call(make(2, 0), make(0))
    yield call(make(0, 2), make(2))


def mv_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(3, 1)), "`vec` must have 1 dimension")
    yield Refusal(call(make(2, 3), make(2)), "`vec` must have 3 elements")


def dot_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3), make(3))
    yield call(make(0), make(0))
    yield call(make(1), make(1))


def dot_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2), make(2)), "`input` must have 1 dimension")
    yield Refusal(call(make(2), make(3)), "`tensor` must have 2 elements")


def np_product(input: Any, other: Any) -> Any:
    return np.matmul(input, other)


def matmul_conventions(make: Make) -> Iterator[Convention]:
    for dtype in ("float16", "bfloat16"):
        x = make.put(np.full((1, 5000), 0.1), dtype)
        wide = np.asarray(x, "float64")
        what = f"{dtype} accumulates in single precision"
        yield Convention(what, call(x, x.T), value=wide @ wide.T, ulps=1)
    small = make.put(np.full((2, 2), 100), "int8"), make.put(np.ones((2, 2)), "int8")
    yield Convention("integers wrap around", call(*small), value=np.full((2, 2), -56))


OPS = [
    OpInfo(
        functx.matmul,
        matmul_samples,
        reference=np_product,
        refusals=matmul_refusals,
        tolerances=(SUMS,),
        conventions=matmul_conventions,
    ),
    OpInfo(functx.mm, mm_samples, reference=np_product, refusals=mm_refusals, tolerances=(SUMS,)),
    OpInfo(
        functx.bmm, bmm_samples, reference=np_product, refusals=bmm_refusals, tolerances=(SUMS,)
    ),
    OpInfo(functx.mv, mv_samples, reference=np_product, refusals=mv_refusals, tolerances=(SUMS,)),
    OpInfo(
        functx.dot, dot_samples, reference=np_product, refusals=dot_refusals, tolerances=(SUMS,)
    ),
]
