from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.special

import functx
from functx._core import category
from functx.testing.floors import AT_ROOTS
from functx.testing.make import Make
from functx.testing.opinfo import call, OpInfo, Sample

from .operands import quiet, real_only, unary


def erf_samples(make: Make) -> Iterator[Sample]:
    yield from unary()(make)
    if category(make.dtype) == 2:
        yield call(make.put([-20, 20, np.inf, -np.inf]))


def gamma_samples(make: Make) -> Iterator[Sample]:
    yield from unary(low=0.5)(make)
    if category(make.dtype) == 2:
        yield call(make.put([-0.5, -1.625, -9.25, 30.5]))
        yield call(make.put([0.0, np.inf, np.nan]))


OPS = [
    OpInfo(functx.erf, erf_samples, reference=scipy.special.erf, refusals=real_only),
    OpInfo(
        functx.lgamma,
        gamma_samples,
        reference=quiet(scipy.special.gammaln),
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
