"""Samples of the products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx._core import category
from functx.testing.floors import SUMS
from functx.testing.make import Make
from functx.testing.opinfo import call, Convention, Departure, OpInfo, Refusal, Sample


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


def addmm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 2), make(2, 3), make(3, 2))
    yield call(make(2), make(2, 3), make(3, 2), beta=2, alpha=3)
    yield call(make(), make(2, 3), make(3, 2), beta=0)
    yield call(make(2, 1), make(2, 0), make(0, 2), alpha=2)
    yield call(make(1, 2), make(3, 1), make(1, 2), beta=3)
    yield call(make(2), make(2, 2), make(2, 2), beta=True, alpha=False)
    if category(make.dtype) == 1:
        yield call(make(2), make(2, 2), make(2, 2), beta=1.5, alpha=2.75)


def addmm_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3, 2), make(2, 3), make(3, 2)), "`input` must broadcast")
    yield Refusal(call(make(1, 2, 2), make(2, 3), make(3, 2)), "`input` must broadcast")
    yield Refusal(call(make(2), make(3), make(3, 2)), "`mat1` must have 2 dimensions")
    yield Refusal(call(make(2), make(2, 2), make(3, 2)), "`mat2` must have 2 rows")
    yield Refusal(
        call(make(2, dtype="float32"), *(make(2, 2, dtype="float32") for _ in "ab"), alpha=1j),
        "`alpha` must not be complex",
        TypeError,
    )
    bytes_ = make(2, 2, dtype="int8")
    for name in ("alpha", "beta"):
        too_large = call(bytes_, bytes_, bytes_, **{name: 300})
        yield Refusal(too_large, f"`{name}` must fit int8, got 300")
        infinite = call(bytes_, bytes_, bytes_, **{name: np.inf})
        yield Refusal(infinite, f"`{name}` must fit int8, got inf")
    half = make(2, 2, dtype="float16")
    yield Refusal(call(half, half, half, alpha=1e39), "`alpha` must fit float32")


def np_product(input: Any, other: Any) -> Any:
    return np.matmul(input, other)


def np_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    if category(input.dtype) < 2:
        beta, alpha = int(beta), int(alpha)
    return beta * input + alpha * (mat1 @ mat2)


def matmul_conventions(make: Make) -> Iterator[Convention]:
    for dtype in ("float16", "bfloat16"):
        x = make.put(np.full((1, 5000), 0.1), dtype)
        wide = np.asarray(x, "float64")
        what = f"{dtype} accumulates in single precision"
        yield Convention(what, call(x, x.T), value=wide @ wide.T, ulps=1)
    small = make.put(np.full((2, 2), 100), "int8"), make.put(np.ones((2, 2)), "int8")
    yield Convention("integers wrap around", call(*small), value=np.full((2, 2), -56))


def addmm_conventions(make: Make) -> Iterator[Convention]:
    nothing, x = make.put(np.full((2, 2), np.nan)), make.put(np.eye(2))
    yield Convention(
        "beta=0 ignores NaN",
        call(nothing, x, x, beta=0),
        value=np.eye(2),
        gradient=(np.zeros((2, 2)), None, None),
    )
    yield Convention(
        "alpha=0 ignores NaN", call(x, nothing, x, alpha=0), value=np.eye(2), gradient=None
    )
    large = make.put([[300.0]], "float16")
    yield Convention("halves are scaled wide", call(large, large, large, alpha=1e-3), value=[[390]])
    small = make.put([[1e-4]], "float16")
    yield Convention("by any float32", call(large, small, small, alpha=1e9), value=[[310]], ulps=2)
    z = make.put(np.full((2, 2), 3.0))
    coefficients = {"alpha": make.put(0.0), "beta": make.put(0.0)}
    yield Convention(
        "coefficients of 0 have gradients",
        call(z, x, x, **coefficients),
        gradient=(None, None, None, 2, 12),
        departure="PyTorch's coefficients are numbers",
    )


def addmm_departures(make: Make) -> Iterator[Departure]:
    x = make.put(np.ones((2, 2)), "float64")
    yield Departure(
        "gradient",
        call(x, x, make.put([[1, -2], [3, -4]], "float64"), alpha=np.inf),
        "an infinite factor meets the terms of a sum, and in PyTorch the sum",
        r"(alpha|beta)=-?(inf|nan)\b.*: nan at",
    )


OPS = [
    OpInfo(
        functx.matmul,
        matmul_samples,
        reference=np_product,
        refusals=matmul_refusals,
        floor=SUMS,
        conventions=matmul_conventions,
    ),
    OpInfo(functx.mm, mm_samples, reference=np_product, refusals=mm_refusals, floor=SUMS),
    OpInfo(functx.bmm, bmm_samples, reference=np_product, refusals=bmm_refusals, floor=SUMS),
    OpInfo(functx.mv, mv_samples, reference=np_product, refusals=mv_refusals, floor=SUMS),
    OpInfo(functx.dot, dot_samples, reference=np_product, refusals=dot_refusals, floor=SUMS),
    OpInfo(
        functx.addmm,
        addmm_samples,
        reference=np_addmm,
        refusals=addmm_refusals,
        floor=SUMS,
        conventions=addmm_conventions,
        departures=addmm_departures,
    ),
]
