from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts, category, real_of
from functx.testing.make import Make
from functx.testing.opdb.complex_differences import COMPLEX_DIFFERENCE
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .vector_norms import np_vector_norm


def dist_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 3))
    for p in (1, 0.5, -1, 3, 4, math.inf, -math.inf, 0):
        x = make(2, 3)
        yield call(x, x + make.distinct(2, 3), p)
    yield call(make(2, 1), other=make(3), p=2)
    yield call(make.nonzero(), make.put(0))
    yield call(make(2, 0), make(1, 1))
    yield call(make(3), make(3, dtype="int32"))


def dist_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), make(3)), "shapes do not fit")
    yield Refusal(call(make(0), make(0), math.inf), "elements to choose from for p=inf")
    yield Refusal(call(make(0), make(0), -1), "elements to choose from for p=-1")
    yield Refusal(call(make(2), 2.0), "`other` must be an array, got 2.0", TypeError)
    yield Refusal(call(make(2), make(2), 1j), "`p` must be", TypeError)
    integers = make(2, dtype="int32")
    yield Refusal(call(integers, integers), "expected inexact", TypeError)


def np_dist(input, other, p=2):
    difference = input - other
    return np_vector_norm(difference, p, tuple(range(difference.ndim))).reshape(())


def dist_conventions(make: Make) -> Iterator[Convention]:
    x = make.put([1, 2, 3])
    for p in (2, 1, 3, 1.5, 0.5, -1, math.inf, -math.inf):
        nowhere = call(x, x, p)
        yield Convention(f"p={p} at 0", nowhere, value=0, gradient=([0, 0, 0], [0, 0, 0]))
    nowhere = call(x, x)
    departure = "PyTorch's is NaN"
    flat = np.zeros((6, 6))
    yield Convention("curvature at 0", nowhere, hessian=flat, singular=True, departure=departure)
    part = call(x, make.put([1, 4, 1]), 0.5)
    yield Convention("p=0.5, one is 0", part, value=8, gradient=([0, -2, 2], [0, 2, -2]))
    tie = call(x, make.put([1, 4, 1]), math.inf)
    yield Convention("ties share", tie, value=2, gradient=([0, -0.5, 0.5], [0, 0.5, -0.5]))
    lost = call(make.put([np.nan, 1]), make.put([0, 1]), 0)
    yield Convention("NaN differs", lost, value=1)


def renorm_samples(make: Make) -> Iterator[Sample]:
    few = make.put([[1], [0.05], [3]])
    for p in (2, 1, 3, 0.5, math.inf):
        yield call(make.nonzero(3, 2) * few, p, 0, 0.25)
    yield call(
        make.nonzero(2, 2, 3),
        2,
        -1,
        maxnorm=make.put(make.rng.uniform(0.2, 0.8), real_of(make.dtype)),
    )
    yield call(make.nonzero(2, 3), 2.0, 1, 100)
    yield call(make.nonzero(2, 3), 2, 1, 0)
    yield call(make(2, 0), 2, 0, 1)
    yield call(make(2, 0), 2, 1, 1)


def renorm_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(make(3), 2, 0, 1), "`input` must have at least 2 dimensions")
    for p in (0, -1, -math.inf, math.nan):
        yield Refusal(call(x, p, 0, 1), f"`p` must be positive, got {p}")
    for bound in (-1.0, math.nan):
        yield Refusal(call(x, 2, 0, bound), "`maxnorm` must not be negative")
    yield Refusal(call(x, 2j, 0, 1), "`p` must be", TypeError)
    yield Refusal(call(x, 2, 0, 1j), "`maxnorm` must not be complex", TypeError)
    yield Refusal(call(x, 2, 2, 1), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(2, 0), math.inf, 0, 1), "elements to choose from")
    integers = make(2, 2, dtype="int32")
    yield Refusal(call(integers, 2, 0, 1), "expected inexact", TypeError)


def np_renorm(x, p, dim, maxnorm):
    norms = np_vector_norm(x, p, tuple(d for d in range(x.ndim) if d != dim % x.ndim))
    large = norms > maxnorm
    return x * np.where(large, maxnorm / np.where(large, norms + 1e-7, 1), 1)


def renorm_conventions(make: Make) -> Iterator[Convention]:
    x = make.put([[0, 0], [3, 4]])
    kept = call(x, 2, 0, 5)
    yield Convention("as large as it may be", kept, value=[[0, 0], [3, 4]], gradient=[[1, 1]] * 2)
    gone = call(x, 2, 0, 0)
    zeros = np.zeros((2, 2))
    yield Convention("to nothing", gone, value=zeros, gradient=[[1, 1], [0, 0]])
    bound = call(x, 2, 0, make.put(0))
    to_each = ([[1, 1], [0, 0]], 7 / (5 + 1e-7))
    departure = "PyTorch's `maxnorm` is a number"
    yield Convention("slopes in the bound", bound, gradient=to_each, departure=departure)
    far = call(make.put([[np.inf, 1], [np.nan, 1]]), 2, 0, 1)
    yield Convention("infinity and NaN", far, value=[[np.nan, 0], [np.nan, 1]])
    if category(make.dtype) == 2:
        halves = call(make.put([[300, 400]], "float16"), 2, 0, 250)
        yield Convention("halves are squared wide", halves, value=[[150, 200]])


OPS = [
    OpInfo(
        functx.dist,
        dist_samples,
        reference=np_dist,
        refusals=dist_refusals,
        tolerances=(SUMS,),
        dtypes=Accepts.INEXACT.value,
        conventions=dist_conventions,
        departures=(COMPLEX_DIFFERENCE,),
    ),
    OpInfo(
        functx.renorm,
        renorm_samples,
        reference=np_renorm,
        refusals=renorm_refusals,
        conventions=renorm_conventions,
        kinked=True,
    ),
]
