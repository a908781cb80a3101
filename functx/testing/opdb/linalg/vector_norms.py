"""Samples of norms of vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def samples(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(2, 3), dim=-1)
    yield call(make.nonzero(2, 3), 3, dim=0, keepdim=True)
    yield call(make.nonzero(2, 3))
    yield call(make.distinct(2, 3), math.inf, 1)
    yield call(make.nonzero(2, 3), 1, (0, 1))
    yield call(make.distinct(5), -math.inf)
    yield call(make.nonzero(2, 3), 0.5, -1)
    yield call(make.nonzero(4), -1.5)
    yield call(make.nonzero(2, 3), 0, dim=1)
    yield call(make.nonzero(), keepdim=True)
    yield call(make.nonzero(), -2)
    yield call(make(2, 0), dim=1)
    yield call(make(0, 3), math.inf, dim=1)
    yield call(make.nonzero(2, 3), dim=())


def wider_samples(make: Make) -> Iterator[Sample]:
    wide = "complex128" if make.dtype.kind == "c" else "float64"
    yield call(make.nonzero(2, 3), dtype=wide)
    yield call(make.nonzero(2, 3), 3, dim=1, dtype=wide)


def refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3, dtype="float32")
    yield Refusal(call(make(3, dtype="int32")), "expected inexact arrays", TypeError)
    yield Refusal(call(make(0), math.inf), "expected elements to choose from for p=inf")
    yield Refusal(call(make(0, 2), -1, dim=0), "expected elements to choose from for p=-1")
    yield Refusal(call(x, "fro"), "`ord` must be a real number", TypeError)
    yield Refusal(call(x, 1j), "`ord` must be a real number", TypeError)
    yield Refusal(call(x, dim=2), r"`dim` must lie in \[-2, 1\]", IndexError)
    yield Refusal(call(x, dim=(0, 0)), "names a dimension twice")
    yield Refusal(call(x, dtype="float16"), "`dtype` must hold the values of", TypeError)
    yield Refusal(call(x, dtype="complex64"), "`dtype` must hold the values of", TypeError)
    yield Refusal(call(x, dtype="int32"), "`dtype` must hold the values of", TypeError)


def np_vector_norm(
    x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    x = np.abs(x)
    axes = tuple(range(x.ndim)) if dim is None or dim == () else dim
    if ord == 0:
        return np.sum(x != 0, axis=axes, keepdims=keepdim)
    if math.isinf(ord):
        extremum = np.max if ord > 0 else np.min
        return extremum(x, axis=axes, keepdims=keepdim)
    return np.sum(x**ord, axis=axes, keepdims=keepdim) ** (1 / ord)


def norm_conventions(make: Make) -> Iterator[Convention]:
    inf = math.inf
    yield Convention("infinities alone", call(make.put([inf, -inf]), -2), value=inf)
    for at, ord, gradient in [
        ([0, 0], 2, [0, 0]),
        ([0, 2], 2, [0, 1]),
        ([0, 0], 1, [0, 0]),
        ([0, -2], 1, [0, -1]),
        ([math.nan, -2], 1, [0, -1]),
        ([math.nan, -2, 0], 3, [math.nan] * 3),
        ([0, 0], 0.5, [0, 0]),
        ([0, 2], 0.5, [0, 1]),
        ([0, 0], 1.5, [0, 0]),
        ([0, 2], 3, [0, 1]),
        ([0, 0], 3, [0, 0]),
        ([3, -3], inf, [0.5, -0.5]),
        ([0, 0], inf, [0, 0]),
        ([3, -3], -inf, [0.5, -0.5]),
        ([0, 2], -inf, [0, 0]),
        ([0, 2], -1, [0, 0]),
        ([0, 0], -0.5, [0, 0]),
        ([3, -3], -1, [0.25, -0.25]),
        ([1, 2], 0, [0, 0]),
    ]:
        yield Convention(f"ord={ord} at {at}", call(make.put(at), ord), gradient=gradient)
    yield Convention("complex 0", call(make.put([0, 0], "complex128")), gradient=[0, 0])
    departure, flat = "PyTorch's is NaN", [[0, 0], [0, 0]]
    zeros = call(make.put([0, 0]))
    what = "second derivative at 0"
    yield Convention(what, zeros, hessian=flat, singular=True, departure=departure)
    yield Convention("complex, at 0", call(make.put([0, 0], "complex128")), singular=True)
    beside = call(make.put([0, 2]), 1.5)
    what = "ord=1.5, second derivative at an element of 0"
    yield Convention(what, beside, singular=True, floor=1e-15)
    for p in (1, math.inf):
        at = call(make.put([0, 0], "complex128"), p)
        yield Convention(f"complex, ord={p} at 0", at, singular=True)
    harmonic = call(make.put([0, 2]), -1)
    what = "ord=-1, second derivative at an element of 0"
    yield Convention(what, harmonic, hessian=flat, departure=departure)
    fourth = call(make.put([0, 1]), 4)
    yield Convention("ord=4, an element of 0", fourth, like=fourth_root, order=4, floor=1e-13)


def fourth_root(x, ord):
    return ((x**4).sum()) ** 0.25


def wider_conventions(make: Make) -> Iterator[Convention]:
    for at, ord, gradient in [([0, 0], 2, [0, 0]), ([0, 2], 3, [0, 1])]:
        sample = call(make.put(at, "float32"), ord, dtype="float64")
        yield Convention(f"ord={ord} at {at}, computed wider", sample, gradient=gradient)


OPS = [
    OpInfo(
        functx.linalg.vector_norm,
        samples,
        np_vector_norm,
        refusals,
        tolerances=(SUMS,),
        conventions=norm_conventions,
    ),
    OpInfo(
        functx.linalg.vector_norm,
        wider_samples,
        np_vector_norm,
        variant="dtype",
        tolerances=(SUMS,),
        conventions=wider_conventions,
    ),
]
