from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.special

import functx
from functx._core import Accepts, category
from functx.testing.floors import AT_ROOTS
from functx.testing.make import Make
from functx.testing.opinfo import call, Convention, edge, OpInfo, Refusal, Sample

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
        small, nothing = make.put([1e-3, -1e-4, 1e-5]), make.put([-np.inf] * 3)
        yield edge(small, nothing)
        yield edge(nothing, small)


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
    yield Refusal(call(make(2), 2j), "expected real numbers", TypeError)


@quiet
def np_sigmoid(x):
    return scipy.special.expit(x) if x.dtype.kind == "f" else 1 / (1 + np.exp(-x))


@quiet
def np_logaddexp(x, y):
    return np.logaddexp(x, y) if x.dtype.kind == "f" else np.log(np.exp(x) + np.exp(y))


def log_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, 2.0, -1.0])
    value = [-np.inf, np.log(2), np.nan]
    yield Convention("0 and below", call(at), value=value, gradient=[np.inf, 0.5, -1])


def log1p_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([-1.0, 0.0, 1e-20])
    yield Convention("-1 and 0", call(at), value=[-np.inf, 0, 1e-20], gradient=[np.inf, 1, 1])


def sigmoid_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([1e3, -1e3, np.inf, -np.inf, 0])
    yield Convention("far out", call(at), value=[1, 0, 1, 0, 0.5], gradient=[0, 0, 0, 0, 0.25])


def logaddexp_conventions(make: Make) -> Iterator[Convention]:
    first, second = make.put([1e3, -np.inf, np.inf, 1]), make.put([1e3, 1, -np.inf, 2])
    halves = 1 / (1 + np.e), np.e / (1 + np.e)
    gradient = [0.5, 0, 1, halves[0]], [0.5, 1, 0, halves[1]]
    yield Convention("infinities and far out", call(first, second), gradient=gradient)
    one = make.put(1.0)
    yield Convention("a tie", call(one, one), hessian=[[0.25, -0.25], [-0.25, 0.25]])


def xlogy_conventions(make: Make) -> Iterator[Convention]:
    x, y = make.put([0.0, 0, np.nan, 0]), make.put([0.0, np.nan, 0, np.inf])
    yield Convention("0 and NaN", call(x, y), value=[0, np.nan, np.nan, 0])
    yield Convention(
        "0 in either place",
        call(make.put([0.0, 2, 2, 0]), make.put([3.0, 3, 0, -1])),
        gradient=([np.log(3), np.log(3), -np.inf, 0], [0, 2 / 3, np.inf, 0]),
    )
    infinite = call(make.put([0.0, np.nan]), make.put([np.inf, 2]))
    gradient = [np.inf, np.log(2)], [0, np.nan]
    yield Convention("infinity and NaN", infinite, gradient=gradient)
    masked = call(make.put([False, True], "bool"), make.put([np.nan, np.e]))
    yield Convention("a mask over NaN", masked, value=[np.nan, 1])
    yield Convention(
        "0 in both",
        call(make.put(0.0), make.put(0.0)),
        gradient=(0, 0),
        departure="PyTorch's gradient of the second is NaN",
    )
    yield Convention(
        "second derivatives at 0", call(make.put(0.0), make.put(2.0)), hessian=[[0, 0.5], [0.5, 0]]
    )


def exp_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([np.inf, -np.inf, 1e3, -1e3, np.nan]))
    value = [np.inf, 0, np.inf, 0, np.nan]
    yield Convention("far out", at, value=value, gradient=value)


OPS = [
    OpInfo(functx.exp, unary(), reference=np.exp, conventions=exp_conventions),
    OpInfo(
        functx.log,
        unary(low=0.1),
        reference=quiet(np.log),
        conventions=log_conventions,
    ),
    OpInfo(
        functx.log1p,
        unary(low=-0.9),
        reference=np.log1p,
        conventions=log1p_conventions,
        ulps={"complex128": 2**20},  # adds 1 to the real part, as PyTorch's does
    ),
    OpInfo(
        functx.sigmoid,
        sigmoid_samples,
        reference=np_sigmoid,
        conventions=sigmoid_conventions,
    ),
    OpInfo(
        functx.logaddexp,
        logaddexp_samples,
        reference=np_logaddexp,
        refusals=logaddexp_refusals,
        dtypes=Accepts.INEXACT.value,
        floor=AT_ROOTS,
        conventions=logaddexp_conventions,
    ),
    OpInfo(
        functx.xlogy,
        xlogy_samples,
        reference=quiet(scipy.special.xlogy),
        refusals=xlogy_refusals,
        signed_zeros=False,
        conventions=xlogy_conventions,
    ),
]
