from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import call, edge, OpInfo, Sample

from .operands import PAIRS, real_without_numbers, unary, unary_nonzero


def atan2_samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make.nonzero(*first), make.nonzero(*second))
    if category(make.dtype) == 2:
        yield edge(*make.edge_pairs())


def angle_samples(make: Make) -> Iterator[Sample]:
    yield from unary_nonzero(make)
    if category(make.dtype) == 2:
        yield edge(make.put([1, np.inf, -np.inf, np.nan]))


def np_angle(x):
    if x.dtype.kind == "c":
        return np.angle(x)
    return np.where(np.isnan(x), np.nan, np.where(x < 0, np.pi, 0))


OPS = [
    OpInfo(functx.sin, unary(), reference=np.sin),
    OpInfo(functx.cos, unary(), reference=np.cos),
    OpInfo(functx.tan, unary(low=-1, high=1), reference=np.tan),
    OpInfo(functx.tanh, unary(low=-1, high=1), reference=np.tanh),
    OpInfo(functx.atan2, atan2_samples, reference=np.arctan2, refusals=real_without_numbers),
    OpInfo(functx.angle, angle_samples, reference=np_angle),
]
