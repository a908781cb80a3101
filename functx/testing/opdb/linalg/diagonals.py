from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import EXACT


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(2, 2, 3), offset=1)
    yield call(make(3, 2), offset=-1, dim1=0, dim2=1)
    yield call(make(2, 3), offset=-7)
    yield call(make(3, 2, 4), dim1=0, dim2=-2)


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), dim1=1), r"`dim1` and `dim2` must differ, got 1 and -1")
    yield Refusal(call(make(3)), r"`dim1` must lie in \[-1, 0\], got -2", IndexError)
    yield Refusal(call(make(2, 3), offset=0.5), r"`offset` must be an int, got 0.5", TypeError)


def np_diagonal(x, *, offset=0, dim1=-2, dim2=-1):
    return np.diagonal(x, offset, dim1, dim2)


OPS = [OpInfo(functx.linalg.diagonal, samples, np_diagonal, refusals, tolerances=(EXACT,))]
