from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import call, edge, OpInfo, Refusal, Sample


def select_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1, 2)
    yield call(make(3, 2), 0, make.index(3))
    yield call(make(2, 3, 2), -2, -3)
    yield call(make(2), dim=0, index=1)
    yield call(make(2, 0), 0, make.index(2, dtype="uint8"))
    yield call(make.small(2, 1, 3, 2), -2, -1)
    yield edge(make.delicate(2, 8), 0, make.index(2))


def select_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 0, 2), r"`index` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(2, 3), 1, -4), r"`index` must lie in \[-3, 2\], got -4", IndexError)
    yield Refusal(call(make(), 0, 0), r"`input` must have an element along `dim`", IndexError)
    yield Refusal(call(make(3), 0, 1.5), r"`index` must be an integer", TypeError)
    yield Refusal(call(make(3), 0, jnp.asarray([0, 1])), r"`index` must be one integer, got")
    yield Refusal(call(make(3), 1, 0), r"`dim` must lie in \[-1, 0\], got 1", IndexError)


def narrow_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4), 1, 1, 2)
    yield call(make(4, 2), 0, make.index(3), 2)
    yield call(make(2, 3), -1, -2, 2)
    yield call(make(3), dim=0, start=3, length=0)
    yield call(make(0, 2), 0, 0, 0)
    yield call(make.small(2, 1, 4, 2), -2, 1, 2)
    yield edge(make.delicate(3, 8), 0, make.index(2), 2)


def narrow_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(), 0, 0, 1), r"`input` must have a dimension, got \S+\[\]")
    yield Refusal(call(make(3), 0, 4, 0), r"`start` must lie in \[-3, 3\], got 4", IndexError)
    yield Refusal(call(make(3), 0, 2, 2), r"`start` \+ `length` must not exceed 3, got 2 \+ 2")
    yield Refusal(call(make(3), 0, 0, -1), r"`length` must lie in \[0, 3\], got -1")
    yield Refusal(call(make(3), 0, True, 1), r"`start` must be an integer", TypeError)
    yield Refusal(call(make(3), 0, 0, 1.5), r"`length` must be an int, got 1.5", TypeError)


def np_narrow(x, dim, start, length):
    start = start % x.shape[dim] if start < 0 else start
    return np.take(x, np.arange(start, start + length), dim)


OPS = [
    OpInfo(
        functx.select,
        select_samples,
        reference=lambda x, dim, index: np.take(x, index, dim),
        refusals=select_refusals,
    ),
    OpInfo(functx.narrow, narrow_samples, reference=np_narrow, refusals=narrow_refusals),
]
