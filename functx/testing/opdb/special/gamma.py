from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.special

import functx
from functx._core import category
from functx.testing.floors import AT_ROOTS
from functx.testing.make import Make
from functx.testing.opdb.pointwise.operands import quiet
from functx.testing.opinfo import call, Convention, edge, OpInfo, Refusal, Sample


@quiet
def np_multivariate(x, p):
    each = scipy.special.gammaln(x[..., None] - np.arange(p) / 2)
    each = np.where(np.isinf(each), np.inf, each)
    return p * (p - 1) / 4 * np.log(np.pi) + each.sum(-1)


def multivariate_samples(make: Make) -> Iterator[Sample]:
    for p in (1, 3, 5, 2):
        low = p / 2
        yield call(make(2, 3, low=low, high=low + 5), p)
        yield call(make(low=low, high=low + 5), p)
    yield call(make(2, 0, 3), 2)
    yield call(make(2, 1, 2, 2, low=2, high=6), p=3)
    if category(make.dtype) == 2:
        yield call(make.put([-0.25, -1.625, 0.125, 30.25]), 2)
        yield edge(make.edges(), 1)
        yield edge(make.edges(1.5), 2)


def multivariate_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), 0), "`p` must be at least 1, got 0")
    yield Refusal(call(make(2), 2.0), r"`p` must be an int, got 2\.0", TypeError)
    yield Refusal(call(make(2), True), "`p` must be an int, got True", TypeError)
    yield Refusal(call(2.0, 1), r"must be an array, got 2\.0", TypeError)
    for dtype in ("bool", "complex64"):
        refusal = "expected integer or floating|expected real number arrays, got"
        yield Refusal(call(make(2, dtype=dtype), 1), refusal, TypeError)


def multivariate_conventions(make: Make) -> Iterator[Convention]:
    inf = np.inf
    at = call(make.put([1.0, 0.5, 0, -1, inf, -inf, np.nan]), 3)
    yield Convention("poles and ends", at, value=[inf, inf, inf, inf, inf, inf, np.nan])
    slope = sum(scipy.special.digamma(2.5 - j / 2) for j in range(3))
    second = sum(scipy.special.polygamma(1, 2.5 - j / 2) for j in range(3))
    yield Convention("slopes", call(make.put(2.5), 3), gradient=slope, hessian=second, ulps=32)


OPS = [
    OpInfo(
        functx.mvlgamma,
        multivariate_samples,
        reference=np_multivariate,
        refusals=multivariate_refusals,
        floor=AT_ROOTS,
        conventions=multivariate_conventions,
    ),
]
