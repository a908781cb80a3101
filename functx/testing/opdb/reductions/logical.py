from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Sample
from functx.testing.samples import call

from .dimensions import dims_refusals
from .rows import at_edges


def truth_samples(make: Make) -> Iterator[Sample]:
    sparse = lambda *shape: make.put(make.mask(*shape))
    yield call(sparse(4, 2), 1)
    yield call(sparse(2, 3, 1), (0, -1), keepdim=True)
    yield call(sparse(2, 3))
    yield call(make(2, 3), dim=[])
    yield call(make(), 0)
    yield call(make(2, 0), -1)
    yield call(make.mask(3, 2), dim=0)
    yield from at_edges(make, -1)


def _axis(dim):
    return tuple(dim) if isinstance(dim, list) else dim


def np_all(x, dim=None, keepdim=False):
    return np.all(x != 0, axis=_axis(dim), keepdims=keepdim)


def np_any(x, dim=None, keepdim=False):
    return np.any(x != 0, axis=_axis(dim), keepdims=keepdim)


def all_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("NaN is true", call(make.put([np.nan, 1.0])), value=True)
    yield Convention("-0 is false", call(make.put([-0.0, 1.0])), value=False)
    yield Convention("of nothing", call(make.put([])), value=True)


def any_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("NaN is true", call(make.put([np.nan, 0.0])), value=True)
    yield Convention("-0 is false", call(make.put([-0.0, 0.0])), value=False)
    yield Convention("of nothing", call(make.put([])), value=False)


OPS = [
    OpInfo(
        functx.all,
        truth_samples,
        reference=np_all,
        refusals=dims_refusals,
        conventions=all_conventions,
    ),
    OpInfo(
        functx.any,
        truth_samples,
        reference=np_any,
        refusals=dims_refusals,
        conventions=any_conventions,
    ),
]
