"""Samples of the rank of a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx._core import real_of
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call


def samples(make: Make) -> Iterator[Sample]:
    real = real_of(make.dtype)
    yield call(make.matrix(3, 2))
    yield call(make.matrix(2, 2, 3))
    yield call(make.put([[1, 2], [2, 4]]))
    yield call(make.put(np.zeros((2, 3))))
    # Singular values of 1, 1.5 and 2.
    yield call(make.matrix(3, 3), atol=1.25)
    yield call(make.matrix(3, 3), rtol=0.6)
    yield call(make.matrix(2, 3, 3), atol=make(2, low=0.8, high=2.2, dtype=real))
    yield call(make.matrix(2, 3, 3), rtol=make(2, low=0.4, high=1.1, dtype=real))
    yield call(make.matrix(3, 3), atol=make.put([[0.1], [1.25]], real), rtol=0.9)
    least = make.put(-np.inf, real)
    yield call(make.put(np.diag([1, 0])), atol=least, rtol=least)
    yield call(make.matrix(3, 3), 1.25)
    yield call(make.matrix(3, 3), tol=make.put([1.75, 2.5], real))
    yield call(make.put(np.diag([1, 1e-30])), atol=1e-35)
    yield call(make.matrix(2, 0, 3))
    yield call(make.matrix(0, 2, 2), atol=make.put(1.0, real))


def hermitian_samples(make: Make) -> Iterator[Sample]:
    # Eigenvalues of 1, 2.25 and 4, and something else above the diagonal.
    A = make.positive_definite(3, 3)
    yield call(make.put(np.tril(A) + np.triu(np.full((3, 3), 9), 1)), atol=2, hermitian=True)
    yield call(make.positive_definite(2, 3, 3), 2.0, True)
    yield call(make.put(np.diag([-3, 2, 1])), rtol=0.5, hermitian=True)
    yield call(make.positive_definite(0, 0), hermitian=True)


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`A` must be \[..., m, n\]")
    yield Refusal(call(make(2, 3), hermitian=True), r"`A` must be \[..., n, n\]")
    unreal = make(dtype="complex64")
    yield Refusal(call(make(2, 2), atol=unreal), r"`atol` must be real, got c64\[\]")
    yield Refusal(call(make(2, 2), rtol=unreal), r"`rtol` must be real, got c64\[\]")
    yield Refusal(call(make(2, 2), tol=1.0, atol=1.0), "tol", TypeError)
    wrong = "expected float32, float64, complex64 or complex128 arrays"
    yield Refusal(call(make(2, 2, dtype="int32")), wrong, TypeError)


def np_rank(A: Any, tol: Any = None, hermitian=False, *, atol: Any = None, rtol: Any = None):
    if tol is not None:
        atol, rtol = tol, 0
    if rtol is None:
        rtol = np.where(np.asarray(0 if atol is None else atol) > 0, 0, max(A.shape[-2:]) * 1e-7)
    atol, rtol = np.asarray(0 if atol is None else atol), np.asarray(rtol)
    whole = np.tril(A) + np.tril(A, -1).conj().mT if hermitian else A
    values = np.linalg.svd(whole, compute_uv=False)
    largest = values.max(-1, keepdims=True, initial=0)
    return (values > np.maximum(atol[..., None], rtol[..., None] * largest)).sum(-1)


def conventions(make: Make) -> Iterator[Convention]:
    small = make.put(np.diag([1, 1e-20]))
    yield Convention("too small to count", call(small), value=1)
    yield Convention("a tolerance stands for the default", call(small, atol=1e-30), value=2)
    yield Convention("as large as the tolerance", call(make.put(np.eye(2)), atol=1.0), value=0)
    infinite = make.put([[1, np.inf], [0, 1]])
    yield Convention("infinities", call(infinite), value=0)


NUMBER_BESIDE_ARRAY = (
    Departure(
        "dtype",
        "PyTorch's two tolerances are both numbers, or both arrays",
        answer="i64",
        match=r"\(\*, atol=\S+, rtol=float\)",
    ),
)

OPS = [
    OpInfo(
        functx.linalg.matrix_rank,
        samples,
        np_rank,
        refusals,
        conventions=conventions,
        departures=NUMBER_BESIDE_ARRAY,
    ),
    OpInfo(functx.linalg.matrix_rank, hermitian_samples, np_rank, variant="hermitian"),
]
