from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import call, Convention, edge, OpInfo, Refusal, Sample


def select_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), 1, 2)
    yield call(make(3, 2), 0, make.index(3))
    yield call(make(2, 3, 2), -2, -3)
    yield call(make(2), dim=0, index=1)
    yield call(make(2, 0), 0, make.index(2, dtype="uint8"))
    yield call(make.small(2, 1, 9, 2), -2, make.index(9, 1))
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
    yield call(make(9, 2), 0, make.index(8), 2)
    yield call(make(2, 3), -1, -2, 2)
    yield call(make(3), dim=0, start=3, length=0)
    yield call(make(0, 2), 0, 0, 0)
    yield call(make.small(2, 1, 9, 2), -2, make.index(8), 2)
    yield edge(make.delicate(3, 8), 0, make.index(2), 2)


def narrow_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), 0, make.index(2, 1), 1), r"`start` must be 0-d, got i64\[1\]")
    yield Refusal(call(make(), 0, 0, 1), r"`input` must have a dimension, got \S+\[\]")
    yield Refusal(call(make(3), 0, 4, 0), r"`start` must lie in \[-3, 3\], got 4", IndexError)
    yield Refusal(call(make(3), 0, 2, 2), r"`start` \+ `length` must not exceed 3, got 2 \+ 2")
    yield Refusal(call(make(3), 0, 0, -1), r"`length` must lie in \[0, 3\], got -1")
    yield Refusal(call(make(3), 0, True, 1), r"`start` must be an integer", TypeError)
    yield Refusal(call(make(3), 0, 0, 1.5), r"`length` must be an int, got 1.5", TypeError)


def np_narrow(x, dim, start, length):
    start = start % x.shape[dim] if start < 0 else start
    return np.take(x, np.arange(start, start + length), dim)


def outside(make: Make, *rest: int) -> Iterator[Convention]:
    """Positions known only at run time, as PyTorch has none."""
    n = len(rest)
    for at in (3 - n, -4):
        index, departure = make.put(at, "int64"), "PyTorch refuses"
        value = [np.nan] * rest[0] if rest else np.nan
        yield Convention(
            f"{at} reads NaN in a compiled program",
            call(make.put([1, 2, 3]), 0, index, *rest),
            value=value,
            gradient=[0, 0, 0],
            departure=departure,
        )
        least = np.iinfo(np.int16).min
        yield Convention(
            f"{at} reads the least integer",
            call(make.put([1, 2, 3], "int16"), 0, index, *rest),
            value=[least] * rest[0] if rest else least,
            departure=departure,
        )


def select_conventions(make: Make) -> Iterator[Convention]:
    yield from outside(make)
    for at, value in ((0, 1), (2, 3), (-1, 3), (-3, 1)):
        sample = call(make.put([1, 2, 3]), 0, make.put(at, "int64"))
        yield Convention(f"{at} known at run time", sample, value=value)
    rest = call(make.put([[np.nan, np.inf], [1, 1]]), 0, 1)
    yield Convention("what is not read", rest, value=[1, 1], gradient=[[0, 0], [1, 1]])


def narrow_conventions(make: Make) -> Iterator[Convention]:
    yield from outside(make, 2)


OPS = [
    OpInfo(
        functx.select,
        select_samples,
        reference=lambda x, dim, index: np.take(x, np.reshape(index, ()), dim),
        refusals=select_refusals,
        conventions=select_conventions,
        ulps=0,
    ),
    OpInfo(
        functx.narrow,
        narrow_samples,
        reference=np_narrow,
        refusals=narrow_refusals,
        conventions=narrow_conventions,
        ulps=0,
    ),
]
