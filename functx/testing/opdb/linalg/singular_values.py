"""Samples of the singular value decomposition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED

from .largest_values import largest_of
from .orthonormal import diagonal_matrices, infinite_matrix, phaseless


CUDA = frozenset({"cuda", "gpu"})


def svd_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2), full_matrices=False)
    yield call(make.matrix(2, 3))
    yield call(make.matrix(3, 2))
    yield call(make.matrix(2, 2, 2))
    yield call(make.matrix(1, 1))
    yield call(make.matrix(0, 2))
    yield call(make.matrix(2, 2, 0), False)
    yield from driven(make)


def svdvals_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2))
    yield call(make.matrix(2, 2, 3))
    yield call(make.matrix(2, 2))
    yield call(make.matrix(0, 2))
    yield from driven(make)


def driven(make: Make) -> Iterator[Sample]:
    if jax.default_backend() in CUDA:
        yield call(make.matrix(3, 2), driver="gesvd")
        yield call(make.matrix(3, 2), driver="gesvdj")


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`A` must be \[..., m, n\]")
    driver = "jacobi" if jax.default_backend() in CUDA else "gesvd"
    yield Refusal(call(make(2, 2), driver=driver), "`driver` must be None")
    yield Refusal(
        call(make(2, 2, dtype="bfloat16")),
        "expected float32, float64, complex64 or complex128 arrays",
        TypeError,
    )


def np_svd(A: Any, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    return tuple(np.linalg.svd(A, full_matrices))


def np_svdvals(A: Any, *, driver: str | None = None) -> Any:
    return np.linalg.svd(A, compute_uv=False)


def svd_conventions(make: Make) -> Iterator[Convention]:
    for what, A in diagonal_matrices(make):
        yield Convention(what, call(A), through=lambda out: out[1], gradient=np.eye(3, 2))
    yield Convention(
        "vectors that are not determined",
        call(make.put(np.eye(2))),
        through=lambda out: out[0][0, 0],
        gradient=np.full((2, 2), np.nan),
    )
    yield Convention(
        "what completes U is orthonormal and constant",
        call(make.put([[1, 2], [3, 4], [5, 7]])),
        through=lambda out: out[0][:, 2],
        gradient=np.zeros((3, 2)),
    )
    nothing, none = np.full((3, 3), np.nan), np.full(3, np.nan)
    at = infinite_matrix(make)
    refusal = "PyTorch refuses"
    yield Convention("infinities", at, value=(nothing, none, nothing), departure=refusal)


def svdvals_conventions(make: Make) -> Iterator[Convention]:
    for what, A in diagonal_matrices(make):
        yield Convention(what, call(A), gradient=np.eye(3, 2))
    at = infinite_matrix(make)
    yield Convention("infinities", at, value=np.full(3, np.nan))
    for rest in (1, 0):
        at, like = call(make.put(np.diag([3.0, rest, rest]))), largest_of(3.0, rest)
        what = f"the largest, where the others are {rest}"
        yield Convention(what, at, through=lambda s: s[..., 0], like=like, floor=1e-14)


OPS = [
    OpInfo(
        functx.linalg.svd,
        svd_samples,
        np_svd,
        refusals,
        gauge=phaseless,
        only_on={"driver": CUDA},
        tolerances=(FACTORED,),
        conventions=svd_conventions,
    ),
    OpInfo(
        functx.linalg.svdvals,
        svdvals_samples,
        np_svdvals,
        refusals,
        only_on={"driver": CUDA},
        tolerances=(FACTORED,),
        conventions=svdvals_conventions,
    ),
]
