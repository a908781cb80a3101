"""Samples of the older forms of QR and of the singular value decomposition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, FixedSizes, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import FACTORED

from .orthonormal import diagonal_matrices, infinite_matrix, phaseless, signless


def qr_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2))
    yield call(make.matrix(2, 2, 3))
    yield call(make.matrix(2, 3), some=False)
    yield call(make.matrix(2, 2), False)
    yield call(make.matrix(1, 1), some=True)
    yield call(make.matrix(0, 2))
    yield call(make.matrix(2, 3, 0))
    yield call(make.matrix(0, 3, 2))
    yield edge(make.matrix(3, 2), False)
    yield edge(make.matrix(2, 3, 0), False)


def svd_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2))
    yield call(make.matrix(2, 2, 3), some=False)
    yield call(make.matrix(3, 2), False)
    yield call(make.matrix(3, 2), compute_uv=False)
    yield call(make.matrix(2, 2, 3), False, False)
    yield call(make.matrix(2, 2))
    yield call(make.matrix(1, 1), True, True)
    yield call(make.matrix(0, 2))
    yield call(make.matrix(2, 3, 0), False)
    yield call(make.matrix(2, 3, 0), True, False)
    yield call(make.matrix(0, 3, 2))


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`input` must be \[..., m, n\], got f\d\d\[3\]")
    for dtype in ("bfloat16", "int32"):
        at = call(make(2, 2, dtype=dtype))
        yield Refusal(at, "expected float32, float64, complex64 or complex128 arrays", TypeError)


def np_qr(input: Any, some: bool = True) -> Any:
    return tuple(np.linalg.qr(input, "reduced" if some else "complete"))


def np_svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    U, S, Vh = np.linalg.svd(input, full_matrices=not (some and compute_uv))
    scale = 1 if compute_uv else 0
    return scale * U, S, scale * np.swapaxes(Vh, -1, -2).conj()


def phaseless_columns(out: Any) -> Any:
    U, S, V = out
    return phaseless((U, S, V.conj().mT))


def qr_conventions(make: Make) -> Iterator[Convention]:
    yield Convention(
        "a completed Q has no derivative",
        call(make.put([[1, 2], [3, 4], [5, 7]]), some=False),
        through=lambda out: out.R,
        refused="qr: some=False must not be differentiated",
    )


def svd_conventions(make: Make) -> Iterator[Convention]:
    for what, A in diagonal_matrices(make):
        for compute_uv in (True, False):
            yield Convention(
                f"{what}, compute_uv={compute_uv}",
                call(A, compute_uv=compute_uv),
                through=lambda out: out.S,
                gradient=np.eye(3, 2),
            )
    yield Convention(
        "vectors left out are zeros",
        call(make.put([[1, 2], [3, 4], [5, 7]]), compute_uv=False),
        value=(np.zeros((3, 3)), None, np.zeros((2, 2))),
        through=lambda out: out.U.sum() + out.V.sum(),
        gradient=np.zeros((3, 2)),
    )
    for name, matrix in (("U", [[1, 2], [3, 4], [5, 7]]), ("V", [[1, 3, 5], [2, 4, 7]])):
        yield Convention(
            f"what completes {name} is orthonormal and constant",
            call(make.put(matrix), some=False),
            through=lambda out, name=name: getattr(out, name)[:, 2],
            gradient=np.zeros(np.shape(matrix)),
        )
    nothing, none = np.full((3, 3), np.nan), np.full(3, np.nan)
    at = infinite_matrix(make)
    refusal = "PyTorch refuses"
    yield Convention("infinities", at, value=(nothing, none, nothing), departure=refusal)


COMPLETE = FixedSizes(
    "input",
    "Q has a derivative where m <= n alone: sizes that leave this open are refused",
    dims=(-2, -1),
    given={"some": False},
)

OPS = [
    OpInfo(
        functx.qr,
        qr_samples,
        np_qr,
        refusals,
        gauge=signless,
        tolerances=(FACTORED,),
        conventions=qr_conventions,
        fixed_sizes=(COMPLETE,),
    ),
    OpInfo(
        functx.svd,
        svd_samples,
        np_svd,
        refusals,
        gauge=phaseless_columns,
        tolerances=(FACTORED,),
        conventions=svd_conventions,
    ),
]
