from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.special

import functx
from functx._core import Accepts, category
from functx.testing.floors import AT_ROOTS
from functx.testing.make import Make
from functx.testing.opinfo import call, edge, OpInfo, Refusal, Sample

from .operands import PAIRS, quiet, unary, unbroadcastable, without_numbers


def sigmoid_samples(make: Make) -> Iterator[Sample]:
    yield from unary(low=-1, high=1)(make)
    if category(make.dtype) == 2:
        yield edge(make.put([-200.0, 200.0, -np.inf, np.inf]))


def logaddexp_samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first, low=-1, high=1), make(*second, low=-1, high=1))
    if category(make.dtype) == 2:
        yield edge(*make.edge_pairs())
        yield call(make.put([0.0, 300.0, -300.0, 1.0]), make.put([-20.0, 300.0, -310.0, 1.0]))
        yield edge(make.put([np.inf, -np.inf, np.inf, -np.inf]), make.put([np.inf, -np.inf, 1, 1]))


def logaddexp_refusals(make: Make) -> Iterator[Refusal]:
    yield from without_numbers(make)
    integers = make(2, dtype="int64")
    yield Refusal(call(integers, integers), "expected a floating common dtype", TypeError)


def xlogy_samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first), make(*second, low=0.2))
    yield call(make(3), 2)
    yield call(2, make(3, low=0.2))
    yield call(make.put([0, 0, 1]), make(3, low=0.2))
    if category(make.dtype) == 2:
        yield edge(*make.edge_pairs())
        yield edge(make.put([0, 0, np.nan, 0, 1]), make.put([0, -1, 0, np.nan, 0]))


def xlogy_refusals(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    yield Refusal(call(2, 3), "`input` or `other` must be an array", TypeError)
    yield Refusal(call(make(2, dtype="complex64"), 2), "expected real arrays", TypeError)


@quiet
def np_sigmoid(x):
    return scipy.special.expit(x) if x.dtype.kind == "f" else 1 / (1 + np.exp(-x))


@quiet
def np_logaddexp(x, y):
    return np.logaddexp(x, y) if x.dtype.kind == "f" else np.log(np.exp(x) + np.exp(y))


OPS = [
    OpInfo(functx.exp, unary(), reference=np.exp),
    OpInfo(functx.log, unary(low=0.1), reference=quiet(np.log)),
    OpInfo(functx.log1p, unary(low=-0.9), reference=np.log1p),
    OpInfo(functx.sigmoid, sigmoid_samples, reference=np_sigmoid),
    OpInfo(
        functx.logaddexp,
        logaddexp_samples,
        reference=np_logaddexp,
        refusals=logaddexp_refusals,
        dtypes=Accepts.INEXACT.value,
        floor=AT_ROOTS,
    ),
    OpInfo(
        functx.xlogy,
        xlogy_samples,
        reference=quiet(scipy.special.xlogy),
        refusals=xlogy_refusals,
        signed_zeros=False,
    ),
]
