from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def samples(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(2, 3))
    yield call(make.nonzero(2, 3), 1, 0)
    yield call(make.nonzero(2, 3), p=3.0, dim=-1, eps=1e-6)
    yield call(make.distinct(2, 3), float("inf"))
    yield call(make.nonzero(2, 2, 2), dim=[0, 2])
    yield call(make.nonzero(2, 3), dim=None)
    yield call(make.nonzero(2, 3), dim=())
    yield call(make.nonzero(4), 2, 0)
    yield call(make.nonzero(), dim=0, eps=5.0)
    yield call(make.nonzero(2, 3), eps=20.0)


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`dim` must lie in \[-1, 0\], got 1", IndexError)
    for dtype, eps in (("float16", 1e5), ("float32", 1e39), ("complex64", 1e39)):
        at = call(make(2, dtype=dtype), dim=0, eps=eps)
        yield Refusal(at, f"`eps` must fit {dtype}, got")
    at = call(make(2, dtype="complex64"), dim=0, eps=1j)
    yield Refusal(at, "`eps` must not be complex for complex64 arrays", TypeError)
    yield Refusal(call(make(2, 3, dtype="int64")), "expected inexact arrays, got i64", TypeError)


def np_normalize(x, p=2.0, dim=1, eps=1e-12):
    axis = tuple(np.atleast_1d(range(x.ndim) if dim in (None, ()) else dim)) if x.ndim else ()
    size = np.abs(x)
    if p == np.inf:
        norm = size.max(axis, keepdims=True)
    else:
        norm = (size**p).sum(axis, keepdims=True) ** (1 / p)
    return x / np.maximum(norm, eps)


def normalize_conventions(make: Make) -> Iterator[Convention]:
    zero = call(make.put([0.0, 0.0]), dim=0)
    yield Convention("0 over eps", zero, value=[0, 0], gradient=[1e12, 1e12])
    at = call(make.put([3.0, 4.0]), dim=0, eps=np.nan)
    yield Convention("NaN for eps", at, value=[np.nan, np.nan])


OPS = [
    OpInfo(
        F.normalize,
        samples,
        reference=np_normalize,
        refusals=refusals,
        tolerances=(SUMS,),
        conventions=normalize_conventions,
        kinked=True,
    )
]
