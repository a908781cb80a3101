from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge

from .operands import PAIRS, quiet, sparse, without_numbers


def close_samples(make: Make) -> Iterator[Sample]:
    if category(make.dtype) >= 2:
        sizes = make.put([1, 1, -1, 0, 20]), make.put([1 + 2**-6, 1.5, -1.5, 2**-6, 30])
        yield call(*sizes)
        yield call(*sizes, rtol=0.6)
        yield call(*sizes, atol=0.5)
        yield call(*sizes, 0.0, 2.0**-6)
        yield call(*sizes, 2.0**-5, 0)
    else:
        sizes = make.put([1, 0, 5, 100, 101]), make.put([1, 1, 4, 101, 100])
        yield call(*sizes)
        yield call(*sizes, rtol=0.3)
        yield call(*sizes, atol=1.5)
        yield call(*sizes, 0, 0)
    if make.dtype == np.uint8:
        yield call(make.put([200, 255]), make.put([200, 1]), 0, 2)
    for first, second in PAIRS:
        yield call(sparse(make, *first), sparse(make, *second), 0.25, 0.25)
    if category(make.dtype) == 2:
        small = make.put([1, 1, 3, -3, 0]) * make.put(np.finfo("float32").tiny)
        other = make.put([1, 1.5, 3.125, 3, 0.25]) * make.put(np.finfo("float32").tiny)
        yield edge(small, other, 0.25, 0)
        yield edge(*make.edge_pairs())
        yield edge(*make.edge_pairs(), rtol=0.75)
        yield edge(*make.edge_pairs(), equal_nan=True)
    if category(make.dtype) == 3:
        odd = [complex(1, np.inf), complex(np.nan, 1), complex(np.nan, 2), 1 + 2j, 3 + 4j]
        others = make.put(odd), make.put([odd[0], odd[1], odd[1], 1 - 2j, 3 + 4.5j])
        yield edge(*others)
        yield edge(*others, equal_nan=True, atol=0.75)


def all_close_samples(make: Make) -> Iterator[Sample]:
    yield from close_samples(make)
    yield call(make.put([1, 0]), make.put([1, 1]), 0, 0.5)
    yield call(make.put([1, 0]), make.put([1, 1]), 0, 1)
    yield call(make.put([1, 0]), make.put([1, 1]), 1, 0)
    yield call(make.put([1, 1]), make.put([1, 0]), 1, 0)
    if category(make.dtype) >= 2:
        at = make.put([np.nan, 1])
        yield call(at, at)
        yield call(at, at, equal_nan=True)


def close_refusals(make: Make) -> Iterator[Refusal]:
    yield from without_numbers(make)
    yield Refusal(call(make(2), make(2, dtype="float64")), "must have the same dtype", TypeError)
    for value in (-1.0, np.nan):
        for name in ("rtol", "atol"):
            at = call(make(2), make(2), **{name: value})
            yield Refusal(at, f"`{name}` must not be negative, got {value}", ValueError)
    for name in ("rtol", "atol"):
        for value in (1j, make(2, dtype="float32")):
            at = call(make(2), make(2), **{name: value})
            yield Refusal(at, f"`{name}` must be a real number, got", TypeError)


def close_conventions(make: Make) -> Iterator[Convention]:
    small, other = make.put([5e-310, 5e-310, 0]), make.put([5e-310, 7e-310, 5e-310])
    yield Convention("subnormal numbers", call(small, other, atol=0), value=[True, False, False])
    at = call(small, other, 0.5, 0)
    yield Convention("in part of them", at, value=[True, True, False])
    at = call(small, other, 0, 3e-310)
    yield Convention("by a subnormal number", call(*at.args), value=[True, True, False])
    whole = make.put([2**24, 2**40], "int64"), make.put([2**24 + 1, 2**40 + 1], "int64")
    yield Convention("integers as float32", call(*whole, 0, 0.5), value=[True, True])
    yield Convention("exactly, without tolerance", call(*whole, 0, 0), value=[False, False])


def equal_samples(make: Make) -> Iterator[Sample]:
    ones = lambda *shape: make.put(np.ones(shape))
    yield call(ones(2, 3), ones(2, 3))
    yield call(ones(3), make.put([1, 1, 0]))
    yield call(ones(3), ones(1, 3))
    yield call(ones(2, 3), ones(3))
    yield call(sparse(make), sparse(make))
    yield call(ones(0, 3), ones(0, 3))
    yield call(ones(0, 3), ones(0))
    yield call(ones(2, 1, 2, 2), make.mask(2, 1, 2, 2))
    yield edge(*make.edge_pairs())
    if category(make.dtype) >= 2:
        yield edge(make.put([1, np.nan]), make.put([1, np.nan]))
        yield edge(make.put([0.0, -0.0, np.inf]), make.put([-0.0, 0.0, np.inf]))
        yield edge(make.put([0.0]), make.put([np.finfo("float32").smallest_subnormal]))


def equal_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), 2.0), r"`other` must be an array, got 2\.0", TypeError)
    yield Refusal(call(2, make(2)), "`input` must be an array, got 2", TypeError)


@quiet
def np_isclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False):
    alike = (x == y) | ((x != x) & (y != y) & equal_nan)
    if rtol == 0 and atol == 0:
        return alike
    x, y = (z.astype("float32") if category(z.dtype) < 2 else z for z in (x, y))
    error = np.abs(x - y)
    return alike | (np.isfinite(error) & (error <= atol + np.abs(rtol * y)))


SIZES_TELL = "whether two sizes are equal decides the result, and of two symbols nobody knows"

OPS = [
    OpInfo(
        functx.isclose,
        close_samples,
        reference=np_isclose,
        refusals=close_refusals,
        conventions=close_conventions,
    ),
    OpInfo(
        functx.allclose,
        all_close_samples,
        reference=lambda *args, **kwargs: np_isclose(*args, **kwargs).all(),
        refusals=close_refusals,
    ),
    OpInfo(
        functx.equal,
        equal_samples,
        reference=lambda x, y: np.asarray(x.shape == y.shape and (x == y).all()),
        refusals=equal_refusals,
        gaps=tuple(Gap(check, SIZES_TELL) for check in ("symbolic", "symbolic_values")),
    ),
]
