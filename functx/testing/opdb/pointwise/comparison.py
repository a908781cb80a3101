from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge

from .operands import PAIRS, real_only, SHAPES, sparse, unbroadcastable, without_numbers


def pairs(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(sparse(make, *first), sparse(make, *second))
    yield edge(*make.edge_pairs())


def pairs_and_number(make: Make) -> Iterator[Sample]:
    yield from pairs(make)
    yield call(sparse(make, 2, 3), 1)
    yield call(sparse(make, 2), 0.5)


def single(make: Make) -> Iterator[Sample]:
    yield call(make.delicate(2, 8))
    for shape in SHAPES:
        yield call(sparse(make, *shape))
    if category(make.dtype) == 2:
        yield edge(make.put([np.nan, np.inf, -np.inf, 0.0, 1.0]))
    if category(make.dtype) == 3:
        yield edge(make.put([complex(0, np.nan), complex(np.inf, 1), 1j, 0]))


def signs(make: Make) -> Iterator[Sample]:
    yield from single(make)
    yield edge(make.edges())
    if category(make.dtype) == 2:
        yield edge(make.put(np.copysign([np.nan, np.nan], [1, -1])))


def reals(make: Make) -> Iterator[Sample]:
    yield from single(make)
    if category(make.dtype) == 3:
        imaginary = [0.0, -0.0, 1e-30, np.nan, -np.inf]
        yield edge(make.put([complex(1, y) for y in imaginary]))
        yield edge(make.put([complex(np.nan, 0), complex(np.inf, 0)]))


def np_is(infinity: float):
    return lambda x: np.equal(x, infinity) if category(x.dtype) == 2 else np.zeros(x.shape, bool)


def number_first(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    yield Refusal(call(2, make(2)), "`input` must be an array, got 2", TypeError)


def ordered(make: Make) -> Iterator[Refusal]:
    yield from number_first(make)
    yield Refusal(call(make(2, dtype="complex64"), 2), "expected real arrays, got c64", TypeError)
    yield Refusal(call(make(2), 2j), "expected real numbers, got c128", TypeError)


def half_and_number(expected: bool):
    def conventions(make: Make) -> Iterator[Convention]:
        half = make.put([0.1], "float16")
        yield Convention("a number is rounded to the half", call(half, 0.1), value=[expected])

    return conventions


def nan_is_true(*expected: bool):
    def conventions(make: Make) -> Iterator[Convention]:
        pairs = make.put([np.nan, -0.0, np.nan]), make.put([np.nan, 0.0, -0.0])
        yield Convention("NaN is true, -0 false", call(*pairs), value=list(expected))

    return conventions


def nan_is_not_false(make: Make) -> Iterator[Convention]:
    at = make.put([np.nan, -0.0])
    yield Convention("NaN is true, -0 false", call(at), value=[False, True])


OPS = [
    OpInfo(
        functx.eq,
        pairs_and_number,
        reference=np.equal,
        refusals=number_first,
        conventions=half_and_number(True),
    ),
    OpInfo(
        functx.ne,
        pairs_and_number,
        reference=np.not_equal,
        refusals=number_first,
        conventions=half_and_number(False),
    ),
    OpInfo(
        functx.lt,
        pairs_and_number,
        reference=np.less,
        refusals=ordered,
        conventions=half_and_number(False),
    ),
    OpInfo(
        functx.le,
        pairs_and_number,
        reference=np.less_equal,
        refusals=ordered,
        conventions=half_and_number(True),
    ),
    OpInfo(
        functx.gt,
        pairs_and_number,
        reference=np.greater,
        refusals=ordered,
        conventions=half_and_number(False),
    ),
    OpInfo(
        functx.ge,
        pairs_and_number,
        reference=np.greater_equal,
        refusals=ordered,
        conventions=half_and_number(True),
    ),
    OpInfo(functx.isnan, single, reference=np.isnan),
    OpInfo(functx.signbit, signs, reference=np.signbit, refusals=real_only),
    OpInfo(functx.isfinite, single, reference=np.isfinite),
    OpInfo(functx.isinf, single, reference=np.isinf),
    OpInfo(functx.isposinf, single, reference=np_is(np.inf), refusals=real_only),
    OpInfo(functx.isneginf, single, reference=np_is(-np.inf), refusals=real_only),
    OpInfo(functx.isreal, reals, reference=np.isreal),
    OpInfo(
        functx.logical_and,
        pairs,
        reference=np.logical_and,
        refusals=without_numbers,
        conventions=nan_is_true(True, False, False),
    ),
    OpInfo(
        functx.logical_or,
        pairs,
        reference=np.logical_or,
        refusals=without_numbers,
        conventions=nan_is_true(True, False, True),
    ),
    OpInfo(
        functx.logical_xor,
        pairs,
        reference=np.logical_xor,
        refusals=without_numbers,
        conventions=nan_is_true(False, False, True),
    ),
    OpInfo(functx.logical_not, single, reference=np.logical_not, conventions=nan_is_not_false),
]
