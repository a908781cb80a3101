from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.special

import functx.nn.functional as F
from functx.testing.make import Make
from functx.testing.opinfo import call, edge, OpInfo, Refusal, Sample


def unary(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(2, 3))
    for shape in [(), (5,), (2, 0, 3)]:
        yield call(make.nonzero(*shape))
    yield edge(make.edges())


def gelu_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(2, 3), approximate="tanh")
    for shape in [(), (2, 0, 3)]:
        yield call(make(*shape))
    yield edge(make.edges())
    yield edge(make.edges(), approximate="tanh")


def gelu_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(
        call(make(3), approximate="sigmoid"), r"`approximate` must be 'none' or 'tanh'", ValueError
    )
    yield Refusal(call(make(3, dtype="int64")), "expected floating arrays, got i64", TypeError)


def softplus_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(2, 3), 2.0, threshold=3)
    yield call(make(2, 3, low=-90, high=90))
    yield call(make(), beta=0.5)
    yield call(make(0, 2))
    yield edge(make.edges(20))
    yield edge(make.edges(), 2.0, threshold=3)


def np_gelu(x, approximate="none"):
    if approximate == "none":
        return x * scipy.special.ndtr(x)
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def np_softplus(x, beta=1, threshold=20):
    return np.where(x * beta > threshold, x, np.logaddexp(0, x * beta) / beta)


OPS = [
    OpInfo(F.relu, unary, reference=lambda x: np.where(x <= 0, 0, x).astype(x.dtype)),
    OpInfo(F.gelu, gelu_samples, reference=np_gelu, refusals=gelu_refusals),
    OpInfo(F.silu, unary, reference=lambda x: x / (1 + np.exp(-x))),
    OpInfo(F.softplus, softplus_samples, reference=np_softplus),
]
