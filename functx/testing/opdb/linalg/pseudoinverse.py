"""Samples of the pseudoinverse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx
from functx._core import real_of
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import FACTORED

from .directions import hermitian_part


def shapes(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2))
    yield call(make.matrix(2, 2, 3))
    yield call(make.matrix(3, 3))
    yield call(make.matrix(1, 1))
    yield call(make.matrix(0, 2))
    yield call(make.matrix(2, 3, 0))
    yield call(make.matrix(0, 2, 2))


def hermitian_matrix(make: Make) -> Any:
    """Indefinite, with something else in the upper triangle, which is not read."""
    A = np.asarray(make.positive_definite(3, 3))
    return make.put(np.tril(A - 3 * np.eye(3)) + np.triu(np.asarray(make(3, 3)), 1))


def pinv_samples(make: Make) -> Iterator[Sample]:
    yield from shapes(make)
    real = real_of(make.dtype)
    yield call(make.matrix(3, 2), rtol=0.3)
    yield call(make.matrix(3, 2), atol=0.3)
    # Singular values of about 1, 1.5 and 2, of which other ones count as zero in each lane.
    yield edge(make.matrix(2, 3, 3), rtol=make(2, low=0.4, high=1.1, dtype=real))
    yield edge(make.matrix(2, 3, 3), atol=make(2, low=0.8, high=2.2, dtype=real))
    yield call(make.matrix(2, 3, 2), atol=1e-3, rtol=make.put([0.1, 0.2], real))
    yield call(make.matrix(2, 3), atol=make.put([0.1, 0.2], real))
    yield call(make.matrix(2, 3), 0.1)
    for deficient in ([[1, 2], [2, 4]], [[1, 2, 3], [1, 2, 3]], np.zeros((2, 2))):
        yield edge(make.put(deficient))
    yield edge(make.matrix(3, 3), atol=1.25)
    yield edge(make.matrix(3, 3), rtol=0.6)
    yield edge(make.matrix(3, 4), 0.8)
    yield edge(make.matrix(3, 3), atol=make.put([[0.1, 1.25, 1.75]], real))
    yield edge(make.matrix(3, 3), atol=make.put(2.5, real))
    yield call(make.matrix(0, 2), atol=make.put([0.1, 0.2], real))


def hermitian_samples(make: Make) -> Iterator[Sample]:
    real = real_of(make.dtype)
    yield call(hermitian_matrix(make), hermitian=True)
    # Eigenvalues of about 1, 2.25 and 4.
    rtol, atol = (make(2, low=low, high=1.1 * low + 1, dtype=real) for low in (0.2, 1.5))
    yield edge(make.positive_definite(2, 3, 3), rtol=rtol, hermitian=True)
    yield edge(make.positive_definite(2, 3, 3), atol=atol, hermitian=True)
    yield call(make.positive_definite(2, 2, 2), atol=0.1, hermitian=True)
    yield call(make.positive_definite(2, 2), 0.1, True)
    yield call(make.positive_definite(2, 2), rtol=make.put(0.1, real), hermitian=True)
    yield call(make.positive_definite(0, 0), hermitian=True)
    yield call(make.matrix(0, 2), hermitian=True)
    yield edge(make.put(np.diag([-3, 2, 1])), rtol=0.5, hermitian=True)
    yield edge(make.put(np.diag([-3, 2, 1])), atol=2.5, hermitian=True)


def pinverse_samples(make: Make) -> Iterator[Sample]:
    yield from shapes(make)
    yield call(make.matrix(3, 2), 0.3)
    yield call(make.matrix(2, 3), rcond=1e-3)
    yield edge(make.matrix(3, 3), 0.6)
    yield edge(make.put([[2, 0], [0, 0]]))


def pinv_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`A` must be \[..., m, n\], got f\d\d\[3\]")
    yield Refusal(call(make(2, 3), hermitian=True), r"`A` must be \[..., n, n\], got f\d\d\[2,3\]")
    unreal = make(dtype="complex64")
    yield Refusal(call(make(2, 2), atol=unreal), r"`atol` must be real, got c64\[\]")
    yield Refusal(call(make(2, 2), rtol=unreal), r"`rtol` must be real, got c64\[\]")
    yield Refusal(call(make(3, 2, 2), atol=make(2)), "linalg.pinv", (ValueError, RuntimeError))
    wrong = "expected float32, float64, complex64 or complex128 arrays"
    yield Refusal(call(make(2, 2, dtype="bfloat16")), wrong, TypeError)


def pinverse_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`input` must be \[..., m, n\], got f\d\d\[3\]")
    yield Refusal(call(make(2, 2), 1j), "`rcond`", TypeError)
    wrong = "expected float32, float64, complex64 or complex128 arrays"
    yield Refusal(call(make(2, 2, dtype="int32")), wrong, TypeError)


def np_pinv(
    A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Any:
    rtol = rcond if rtol is None else rtol
    if rtol is None:
        rtol = np.where(np.asarray(0 if atol is None else atol) > 0, 0, 1e-15)
    atol = np.asarray(0 if atol is None else atol)
    batch = np.broadcast_shapes(A.shape[:-2], atol.shape, np.shape(rtol))
    if not A.size:
        return np.swapaxes(A, -1, -2)
    out = np.zeros((*batch, A.shape[-1], A.shape[-2]), A.dtype)
    A = np.broadcast_to(A, (*batch, *A.shape[-2:]))
    atol, rtol = (np.broadcast_to(x, batch) for x in (atol, rtol))
    for i in np.ndindex(batch):
        whole = np.tril(A[i]) + np.tril(A[i], -1).conj().T if hermitian else A[i]
        largest = np.linalg.norm(whole, 2)
        if largest:
            out[i] = np.linalg.pinv(whole, max(atol[i] / largest, rtol[i]))
    return out


def np_pinverse(input: Any, rcond: float = 1e-15) -> Any:
    return np.linalg.pinv(input, rcond)


def normal_equations(A: Any) -> Any:
    return jnp.linalg.solve(A.mT @ A, A.mT)


def regular(make: Make) -> Iterator[Convention]:
    for what, A in [
        ("singular values that coincide", 3.0 * np.eye(3, 2)),
        ("distinct singular values", np.asarray([[1.0, 2], [3, 4], [5, 7]])),
    ]:
        yield Convention(what, call(make.put(A)), like=normal_equations, ulps=2000, floor=1e-11)


def pinv_conventions(make: Make) -> Iterator[Convention]:
    yield from regular(make)
    deficient = make.put(np.diag([2, 0]))
    yield Convention(
        "the derivative is that at constant rank",
        call(deficient),
        value=np.diag([0.5, 0]),
        gradient=[[-0.25, 0.25], [0.25, 0]],
        smooth=True,
    )
    yield Convention(
        "what counts as zero is taken for zero",
        call(make.put(np.diag([2, 1])), atol=1),
        value=np.diag([0.5, 0]),
        gradient=[[-0.25, 0.25], [0.25, 0]],
        smooth=True,
    )
    both = call(deficient, hermitian=True)
    gradient = [[-0.25, 0.25], [0.25, 0]]
    yield Convention("Hermitian", both, value=np.diag([0.5, 0]), gradient=gradient, smooth=True)
    nothing = np.zeros((2, 2))
    zero = call(make.put(nothing))
    yield Convention("zero", zero, value=nothing, gradient=nothing, smooth=True)
    yield Convention(
        "`rtol` is 0 where `atol` is greater than 0",
        call(make.put(np.diag([1, 1e-20])), atol=1e-30),
        value=np.diag([1, 1e20]),
    )
    infinite = call(make.put([[1, np.inf], [0, 1]]))
    yield Convention("infinities", infinite, value=np.full((2, 2), np.nan))


def pinverse_conventions(make: Make) -> Iterator[Convention]:
    yield from regular(make)
    yield Convention(
        "the derivative is that at constant rank",
        call(make.put(np.diag([2, 0]))),
        gradient=[[-0.25, 0.25], [0.25, 0]],
        smooth=True,
    )
    yield Convention(
        "single precision takes its rounding errors for singular values",
        call(make.put(np.diag([1, 1e-10]), "float32")),
        holds=lambda P: abs(P[1, 1] - 1e10) < 1e5,
    )


OPS = [
    OpInfo(
        functx.linalg.pinv,
        pinv_samples,
        np_pinv,
        pinv_refusals,
        tolerances=(FACTORED,),
        conventions=pinv_conventions,
        departures=(
            Departure(
                "dtype",
                "PyTorch's two tolerances are both numbers, or both arrays",
                answer="*",
                match=r"\(\*, atol=float, rtol=.*\)",
            ),
        ),
    ),
    OpInfo(
        functx.linalg.pinv,
        hermitian_samples,
        np_pinv,
        directions=hermitian_part,
        tolerances=(FACTORED,),
        variant="hermitian",
    ),
    OpInfo(
        functx.pinverse,
        pinverse_samples,
        np_pinverse,
        pinverse_refusals,
        tolerances=(FACTORED,),
        conventions=pinverse_conventions,
        kinked=True,
    ),
]
