from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge, held

from .operands import PAIRS, quiet, real_without_numbers


def heaviside_samples(make: Make) -> Iterator[Sample]:
    zeros = [0, 1, 0] if make.dtype.kind in "bu" else [0, -1, 2]
    yield held(make.put(zeros), make(3))  # the first: elsewhere no slope is other than 0
    for first, second in PAIRS:
        yield call(make.nonzero(*first), make(*second))
    yield held(make.put([[0], [1]]), make(3))
    yield edge(*make.edge_pairs())
    yield edge(make.delicate(8), make.delicate(8))


def heaviside_refusals(make: Make) -> Iterator[Refusal]:
    yield from real_without_numbers(make)
    yield Refusal(call(make(2), make(2, dtype="float64")), "must have the same dtype", TypeError)


@quiet
def np_heaviside(x, values):
    return np.where(x == 0, values, x > 0).astype(x.dtype)


def heaviside_conventions(make: Make) -> Iterator[Convention]:
    nan, at = np.nan, make.put([0.0, -0.0, np.nan, 5e-310, -5e-310])
    values = make.put([nan, 2.0, 3, 4, 5])
    yield Convention("zeros, NaN, subnormal", call(at, values), value=[nan, 2, 0, 1, 0])
    yield Convention(
        "slopes",
        call(at, values),
        gradient=([0] * 5, [1, 1, 0, 0, 0]),
        departure="PyTorch has no derivative here",
    )


OPS = [
    OpInfo(
        functx.heaviside,
        heaviside_samples,
        reference=np_heaviside,
        refusals=heaviside_refusals,
        conventions=heaviside_conventions,
    ),
]
