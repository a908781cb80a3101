"""Samples of determinants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import call, OpInfo, Sample

from .factorizations import square_refusals


def samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 3))
    yield call(make.matrix(2, 2, 2))
    yield call(make.matrix(1, 1))
    yield call(make.matrix(0, 0))
    yield call(make.matrix(0, 2, 2))


def np_slogdet(A: Any) -> Any:
    return tuple(np.linalg.slogdet(A))


OPS = [
    OpInfo(functx.linalg.det, samples, np.linalg.det, square_refusals),
    OpInfo(functx.linalg.slogdet, samples, np_slogdet, square_refusals),
]
