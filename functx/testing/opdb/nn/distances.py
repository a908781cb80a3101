"""Samples of distances, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import functx.nn.functional as F
from functx._core import category, real_of
from functx.testing.make import Make
from functx.testing.opdb.complex_differences import COMPLEX_DIFFERENCE
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call, held
from functx.testing.tolerances import SUMS

from .distances_in_double import np_distance


UNTRACED = "PyTorch's numbers have no gradient"


def cosine_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 3))
    yield call(make(3, 2), make(2), 0)
    yield call(make(2, 1, 3), make(4, 3), dim=-1)
    yield call(make(3), make(2, 3), 1)
    small = make(2, 3, low=-0.25, high=0.25)
    yield held(small, make(2, 3), 1, make(low=0.5, high=0.75))
    yield call(make(3), make(3), 0, make(low=0.01, high=0.02))
    yield call(make.nonzero(), make.nonzero(), -1)
    yield call(make(2, 0), make(2, 0))


def distance_samples(make: Make) -> Iterator[Sample]:
    apart = lambda *shape: make(*shape, low=4, high=9)
    yield call(make(2, 3), apart(2, 3))
    for p in (1, 3.0, math.inf, 0):
        yield call(make(2, 3), apart(3), p)
    if category(make.dtype) >= 2:
        yield call(
            make(2, 3),
            apart(2, 3),
            2.0,
            make(low=0.25, high=0.5, dtype=real_of(make.dtype).name),
        )
    yield call(make(3), apart(2, 3), eps=0.5, keepdim=True)
    yield call(make(), apart(), 1, 0.0)
    yield call(make(3, 0), make(3, 0))


def np_cosine(x: Any, y: Any, dim: int = 1, eps: Any = 1e-8) -> Any:
    x, y = np.broadcast_arrays(np.atleast_1d(x), np.atleast_1d(y))
    sizes = [np.maximum(np.sqrt((v * v).sum(dim)), eps) for v in (x, y)]
    return (x * y).sum(dim) / (sizes[0] * sizes[1])


def cosine_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(x, make(4)), "shapes do not fit")
    yield Refusal(call(x, x, 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(x, x, eps=-1), "`eps` must not be negative, got -1")
    whole = make(2, 3, dtype="int64")
    yield Refusal(call(whole, whole), "expected floating arrays, got i64", TypeError)


def distance_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(4)), "shapes do not fit")
    yield Refusal(call(make(2, 3), make(2, 3), "2"), "`p` must be", TypeError)


def cosine_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([[0.0, 0.0]]), make.put([[3.0, 4.0]]), 1, 0.5)
    yield Convention("a vector of zeros", at, value=[0], gradient=([[1.2, 1.6]], [[0, 0]]))
    at = call(make.put([[0.3, 0.0]]), make.put([[3.0, 4.0]]), 1, 0.5)
    gradient = [[1.2 - 0.72, 1.6]], [[0.6 * (1 / 5 - 9 / 125), -0.6 * 12 / 125]]
    yield Convention("a norm below eps has its slope", at, value=[0.36], gradient=gradient)
    at = call(make.put([0.3]), make.put([3.0]), 0, make.put(0.5))
    bends = [[-3.2, 0, 0.8], [0, 0, 0], [0.8, 0, 4.8]]
    gradient = [0.8], [0], -1.2
    yield Convention(
        "so has eps", at, gradient=gradient, hessian=bends, floor=1e-14, departure=UNTRACED
    )
    at = call(make.put(0.5), make.put(3.0), 0, make.put(0.5))
    yield Convention("a norm of eps", at, gradient=(0, 0, 0), departure=UNTRACED, floor=1e-15)
    at = call(make.put([1.0, 0.0]), make.put([1.0, 2.0]), 0)
    gradient = [0, 2 / math.sqrt(5)], [0.8 / math.sqrt(5), -0.4 / math.sqrt(5)]
    yield Convention("an equal element", at, gradient=gradient, floor=1e-15)


def distance_conventions(make: Make) -> Iterator[Convention]:
    x = make.put([[1.0, 2.0]])
    at = call(x, x, 2.0, 0.0)
    yield Convention("equal vectors", at, value=[0], gradient=([[0, 0]], [[0, 0]]))
    yield Convention("their curvature", at, singular=True)
    slope = [[math.sqrt(0.5)] * 2], [[-math.sqrt(0.5)] * 2]
    yield Convention("moved apart by eps", call(x, x), gradient=slope)
    at = call(make.put(1.0), make.put(1.0), 2.0, make.put(1.0))
    yield Convention("as far as eps", at, gradient=(1, -1, 1), departure=UNTRACED)


OPS = [
    OpInfo(
        F.cosine_similarity,
        cosine_samples,
        np_cosine,
        cosine_refusals,
        tolerances=(SUMS,),
        conventions=cosine_conventions,
        kinked=True,
    ),
    OpInfo(
        F.pairwise_distance,
        distance_samples,
        np_distance,
        distance_refusals,
        tolerances=(SUMS,),
        conventions=distance_conventions,
        departures=(COMPLEX_DIFFERENCE,),
    ),
]
