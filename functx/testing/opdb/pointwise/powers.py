from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opinfo import call, edge, OpInfo, Refusal, Sample

from .operands import PAIRS, quiet, unary, unbroadcastable


def pow_samples(make: Make) -> Iterator[Sample]:
    floating = category(make.dtype) >= 2
    base = lambda *shape: make(*shape, low=0.5) if floating else make(*shape)
    exponent = lambda *shape: make(*shape) if floating else make(*shape, low=0)
    for first, second in PAIRS:
        yield call(base(*first), exponent(*second))
    yield call(make.nonzero(2, 3), 2)
    yield call(base(3), 0.5)
    yield call(2, make(3) if floating else make(3, low=0))
    if floating:
        yield call(make.nonzero(2, 3), make.put([[-2, 0, 1], [3, 4, 5]]))
        yield call(make.nonzero(3), -1)
    if category(make.dtype) == 2:
        yield edge(*make.edge_pairs())
    if floating:
        yield edge(make.edges(), 3)
    else:
        yield call(make.put([3, 7, 2]), make.put([5, 2, 100]))  # wraps
    if make.dtype.kind == "i":
        yield call(make.put([1, -1, -1, 2, 0]), make.put([-2, -1, -2, -1, -1]))


def pow_refusals(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    yield Refusal(call(2, 3), "`input` or `exponent` must be an array", TypeError)
    yield Refusal(call(make(2, dtype="int64"), -1), "`exponent` must not be negative")
    yield Refusal(call(make.mask(2), make.mask(2)), "expected arrays of numbers", TypeError)


@quiet
def np_pow(x, exponent):
    x, exponent = np.asarray(x), np.asarray(exponent)
    if x.dtype.kind not in "iu" or exponent.dtype.kind not in "iu":
        return np.power(x, exponent)
    powers = [_truncated_power(a, e) for a, e in np.broadcast(x, exponent)]
    width = np.iinfo(np.result_type(x, exponent)).bits
    wrapped = [(p + 2 ** (width - 1)) % 2**width - 2 ** (width - 1) for p in powers]
    shape = np.broadcast_shapes(x.shape, exponent.shape)
    return np.array(wrapped, "int64").reshape(shape)


def _truncated_power(a, e):
    a, e = int(a), int(e)
    if e >= 0:
        return a**e
    return a ** (-e) if a in (1, -1) else 0


OPS = [
    OpInfo(
        functx.pow,
        pow_samples,
        reference=np_pow,
        refusals=pow_refusals,
        dtypes=Accepts.NUMBER.value,
    ),
    OpInfo(functx.square, unary(), reference=lambda x: x * x if x.dtype != bool else 1 * x),
    OpInfo(functx.sqrt, unary(low=0.1), reference=quiet(np.sqrt)),
    OpInfo(functx.rsqrt, unary(low=0.1), reference=quiet(lambda x: 1 / np.sqrt(x))),
]
