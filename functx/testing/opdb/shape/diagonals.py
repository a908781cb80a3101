from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import call, Convention, edge, OpInfo, Refusal, Sample


def diag_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3))
    yield call(make(2), -1)
    yield call(make(2, 3), 1)
    yield call(make(2), diagonal=2)
    yield call(make(3, 2), -2)
    yield call(make(2, 2), 5)
    yield call(make(0), 2)
    yield call(make.small(2), 1)
    yield edge(make.delicate(8))


def diag_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make()), r"`input` must have 1 or 2 dimensions, got \S+\[\]")
    yield Refusal(call(make(1, 1, 1)), r"`input` must have 1 or 2 dimensions")
    yield Refusal(call(make(2), 0.5), r"`diagonal` must be an int, got 0.5", TypeError)


def diagonal_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1)
    yield call(make(2, 2, 3), 0, -1, 1)
    yield call(make(3, 2), offset=-1)
    yield call(make(2, 3), -7)
    yield call(make(2, 0))
    yield call(make(3, 2, 2), offset=-1, dim1=0, dim2=2)
    yield call(make.small(2, 3, 1, 2), 1, -1, -3)
    yield edge(make.delicate(8, 1, 1), 0, 1, 2)


def diagonal_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 0, 1, -1), r"`dim1` and `dim2` must differ, got 1 and -1")
    yield Refusal(call(make(3)), r"`dim2` must lie in \[-1, 0\], got 1", IndexError)
    yield Refusal(call(make(2, 3), 0.5), r"`offset` must be an int, got 0.5", TypeError)


def triangle_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(3, 2), 1)
    yield call(make(2, 3, 3), -1)
    yield call(make(2, 3), diagonal=-9)
    yield call(make(2, 3), 2**40)
    yield call(make(0, 3))
    yield call(make.small(2, 1, 3, 3), 1)
    yield edge(make.delicate(8, 1, 1))


def triangle_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`input` must have at least 2 dimensions, got \S+\[3\]")
    yield Refusal(call(make(2, 3), 0.5), r"`diagonal` must be an int, got 0.5", TypeError)


def diag_conventions(make: Make) -> Iterator[Convention]:
    for fill in (np.nan, np.inf):
        value = [[1, 0], [0, fill]]
        yield Convention(f"zeros beside {fill}", call(make.put([1, fill])), value=value)


def tril_conventions(make: Make) -> Iterator[Convention]:
    for fill in (np.nan, np.inf):
        at, kept = call(make.put([[1, fill], [2, 3]])), [[1, 0], [1, 1]]
        yield Convention(f"{fill} is cut away", at, value=[[1, 0], [2, 3]], gradient=kept)


def triu_conventions(make: Make) -> Iterator[Convention]:
    for fill in (np.nan, np.inf):
        at, kept = call(make.put([[1, 2], [fill, 3]])), [[1, 1], [0, 1]]
        yield Convention(f"{fill} is cut away", at, value=[[1, 2], [0, 3]], gradient=kept)


OPS = [
    OpInfo(
        functx.diag,
        diag_samples,
        reference=lambda x, diagonal=0: np.diag(x, diagonal),
        refusals=diag_refusals,
        conventions=diag_conventions,
        ulps=0,
    ),
    OpInfo(
        functx.diagonal,
        diagonal_samples,
        reference=lambda x, offset=0, dim1=0, dim2=1: np.diagonal(x, offset, dim1, dim2),
        refusals=diagonal_refusals,
        ulps=0,
    ),
    OpInfo(
        functx.tril,
        triangle_samples,
        reference=lambda x, diagonal=0: np.tril(x, diagonal),
        refusals=triangle_refusals,
        conventions=tril_conventions,
        ulps=0,
    ),
    OpInfo(
        functx.triu,
        triangle_samples,
        reference=lambda x, diagonal=0: np.triu(x, diagonal),
        refusals=triangle_refusals,
        conventions=triu_conventions,
        ulps=0,
    ),
]
