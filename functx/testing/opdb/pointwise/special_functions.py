from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.special

import functx
from functx._core import category
from functx.testing.floors import AT_ROOTS
from functx.testing.make import Make
from functx.testing.opinfo import call, edge, OpInfo, Sample

from .operands import quiet, real_only, unary


def erf_samples(make: Make) -> Iterator[Sample]:
    yield from unary()(make)
    if category(make.dtype) == 2:
        yield edge(make.put([-20, 20, np.inf, -np.inf]))


def gamma_samples(make: Make) -> Iterator[Sample]:
    yield from unary(low=0.5)(make)
    if category(make.dtype) == 2:
        yield call(make.put([-0.5, -1.625, -9.25, 30.5]))
        yield edge(make.put([0.0, np.inf, np.nan]))


@quiet
def np_lgamma(x):
    return np.where(np.isinf(x), np.inf, scipy.special.gammaln(x))


OPS = [
    OpInfo(functx.erf, erf_samples, reference=scipy.special.erf, refusals=real_only),
    OpInfo(
        functx.lgamma,
        gamma_samples,
        reference=np_lgamma,
        refusals=real_only,
        floor=AT_ROOTS,
    ),
    OpInfo(
        functx.digamma,
        gamma_samples,
        reference=quiet(scipy.special.digamma),
        refusals=real_only,
        floor=AT_ROOTS,
    ),
]
