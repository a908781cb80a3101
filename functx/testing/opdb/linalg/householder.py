"""Samples of Householder reflections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED


def geqrf_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2))
    yield call(make.matrix(2, 2, 3))
    yield call(make.matrix(3, 3))
    yield call(make.matrix(2, 1, 4, 2))
    yield call(make.matrix(1, 1))
    yield call(make.matrix(1, 3))
    yield call(make.matrix(0, 2))
    yield call(make.matrix(2, 3, 0))
    yield call(make.matrix(0, 3, 2))


def householder_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 2), make(2))
    yield call(make(2, 3, 3), make(2, 2))
    yield call(make(2, 2), make(2))
    yield call(make(3, 2), make(1))
    yield call(make(1, 1), make(1))
    yield call(make(2, 1, 3, 2), make(2, 1, 2))
    yield call(make(3, 2), make(0))
    yield call(make(2, 0), make(0))
    yield call(make(0, 0), make(0))
    yield call(make(0, 3, 2), make(0, 2))
    yield call(make(3, 2), make.put([0, 0.5]))


def ormqr_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 2), make(2), make(3, 4))
    yield call(make(3, 2), make(2), make(4, 3), left=False)
    yield call(make(3, 2), make(2), make(3, 1), transpose=True)
    yield call(make(2, 3, 2), make(2, 2), make(2, 1, 3), False, True)
    yield call(make(2, 3), make(2), make(2, 2))
    yield call(make(2, 2, 2), make(2, 2), make(2, 2, 3), True, True)
    yield call(make(3, 1), make(1), make(3, 3))
    yield call(make(3, 0), make(0), make(3, 2))
    yield call(make(0, 2), make(0), make(0, 2))
    yield call(make(3, 2), make(2), make(3, 0))
    yield call(make(0, 3, 2), make(0, 2), make(0, 3, 2))


def geqrf_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`input` must be \[..., m, n\], got f\d\d\[3\]")
    wrong = "expected float32, float64, complex64 or complex128 arrays"
    yield Refusal(call(make(2, 2, dtype="float16")), wrong, TypeError)


def householder_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), make(3)), r"`A` must be \[..., m, n\], got f\d\d\[3\]")
    yield Refusal(call(make(2, 3), make(2)), "`A` must have at least as many rows as columns")
    yield Refusal(call(make(3, 2), make(3)), r"`tau` must have the shape \[k\] with at most 2")
    yield Refusal(call(make(3, 2), make()), r"`tau` must have the shape \[k\]")
    yield Refusal(call(make(4, 3, 2), make(2)), r"`tau` must have the shape \[4, k\]")
    yield Refusal(call(make(4, 3, 2), make(1, 2)), r"`tau` must have the shape \[4, k\]")
    wrong = "expected float32, float64, complex64 or complex128 arrays"
    yield Refusal(call(make(2, 2, dtype="int32"), make(2, dtype="int32")), wrong, TypeError)


def ormqr_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), make(3), make(3, 2)), r"`input` must be \[..., m, n\]")
    yield Refusal(call(make(3, 2), make(2), make(3)), r"`other` must be \[..., m, n\]")
    at = call(make(3, 2), make(2), make(2, 3))
    yield Refusal(at, r"`input` must have the shape \[2, k\] .* with left=True")
    at = call(make(3, 2), make(2), make(3, 2), False)
    yield Refusal(at, r"`input` must have the shape \[2, k\] .* with left=False")
    at = call(make(1, 3, 2), make(1, 2), make(4, 3, 2))
    yield Refusal(at, r"`input` must have the shape \[4, 3, k\]")
    for size in (1, 3):
        at = call(make(3, 2), make(size), make(3, 2))
        yield Refusal(at, r"`tau` must have the shape \[k\] with exactly 2")
    at = call(make(4, 3, 2), make(2), make(4, 3, 2))
    yield Refusal(at, r"`tau` must have the shape \[4, k\]")


def np_geqrf(input: Any) -> Any:
    *batch, m, n = input.shape
    a, tau = np.array(input), np.zeros((*batch, min(m, n)), input.dtype)
    if input.size:
        for i in np.ndindex(*batch):
            (a[i], tau[i]), _ = scipy.linalg.qr(input[i], mode="raw")
    return a, tau


def reflections(A: Any, tau: Any) -> Any:
    """Their product, as a square matrix."""
    m = A.shape[-2]
    out = np.zeros((*A.shape[:-2], m, m), A.dtype)
    for i in np.ndindex(A.shape[:-2]):
        out[i] = np.eye(m)
        for k, share in enumerate(tau[i]):
            v = np.concatenate([np.zeros(k), [1], A[i][k + 1 :, k]])
            out[i] = out[i] @ (np.eye(m) - share * np.outer(v, v.conj()))
    return out


def np_householder_product(A: Any, tau: Any) -> Any:
    return reflections(A, tau)[..., : A.shape[-1]]


def np_ormqr(input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    Q = reflections(input, tau)
    Q = np.swapaxes(Q, -1, -2).conj() if transpose else Q
    return Q @ other if left else other @ Q


def geqrf_conventions(make: Make) -> Iterator[Convention]:
    triangle = make.put([[3, 1], [0, 2], [0, 0]])
    yield Convention(
        "a column that ends in zeros is not reflected",
        call(triangle),
        value=([[3, 1], [0, 2], [0, 0]], [0, 0]),
        gradient=[[1, 1], [0, 1], [0, 0]],
        departure="PyTorch has no derivative",
    )
    yield Convention(
        "the diagonal of R has the opposite sign",
        call(make.put([[-3], [4]])),
        value=([[5], [-0.5]], [1.6]),
    )
    yield Convention(
        "no square is out of range",
        call(make.put([[3e200], [4e200]])),
        value=([[-5e200], [0.5]], [1.6]),
        smooth=True,
        order=1,
    )


def householder_conventions(make: Make) -> Iterator[Convention]:
    A = [[np.nan, np.nan], [1, np.nan], [2, 3]]
    yield Convention(
        "nothing on or above the diagonal is read",
        call(make.put(A), make.put([1, 0])),
        value=[[0, -1], [-1, 0], [-2, -2]],
    )


AT_ZEROS = Gap(
    "limits", "of zeros, nothing is reflected, and `tau` is 0", frozenset({"complex128"})
)

OPS = [
    OpInfo(
        functx.geqrf,
        geqrf_samples,
        np_geqrf,
        geqrf_refusals,
        tolerances=(FACTORED,),
        conventions=geqrf_conventions,
        gaps=(AT_ZEROS,),
        kinked=True,
    ),
    OpInfo(
        functx.linalg.householder_product,
        householder_samples,
        np_householder_product,
        householder_refusals,
        tolerances=(FACTORED,),
        conventions=householder_conventions,
    ),
    OpInfo(functx.ormqr, ormqr_samples, np_ormqr, ormqr_refusals, tolerances=(FACTORED,)),
]
