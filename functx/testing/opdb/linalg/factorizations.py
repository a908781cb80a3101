"""Samples of Cholesky, QR and eigendecompositions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx.linalg import LinAlgError
from functx.testing.make import Make
from functx.testing.opinfo import Convention, FixedSizes, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import FACTORED

from .directions import hermitian_part
from .orthonormal import signless
from .square_matrices import square_refusals


INFINITE = "PyTorch's vectors turn infinitely where values coincide"


def cholesky_samples(make: Make) -> Iterator[Sample]:
    yield call(make.positive_definite(3, 3))
    yield call(make.positive_definite(2, 2, 2), upper=True)
    yield call(make.positive_definite(1, 1))
    yield call(make.positive_definite(0, 0))
    yield call(make.positive_definite(2, 0, 0))
    lower, upper = one_triangle(make)
    yield call(lower)
    yield call(upper, upper=True)


def one_triangle(make: Make) -> tuple[jax.Array, jax.Array]:
    """Matrices whose other triangle holds something else, and is not read: lower, upper."""
    lower = make.positive_definite(3, 3) + jnp.triu(make(3, 3), 1)
    return lower, make.positive_definite(3, 3) + jnp.tril(make(3, 3), -1)


def np_hermitian(A: Any, upper: bool) -> Any:
    if upper:
        A = np.swapaxes(A, -1, -2).conj()
    strict = np.tril(A, -1)
    diagonal = np.eye(A.shape[-1]) * A.real
    return strict + np.swapaxes(strict, -1, -2).conj() + diagonal


def np_cholesky(A: Any, *, upper: bool = False) -> Any:
    L = np.linalg.cholesky(np_hermitian(A, upper))
    return np.swapaxes(L, -1, -2).conj() if upper else L


def eigh_samples(make: Make) -> Iterator[Sample]:
    yield call(make.positive_definite(3, 3))
    yield call(make.positive_definite(2, 2, 2), UPLO="U")
    yield call(make.positive_definite(1, 1), "l")
    yield call(make.positive_definite(0, 0))
    yield call(make.positive_definite(0, 2, 2))
    lower, upper = one_triangle(make)
    yield call(lower)
    yield call(upper, "u")


def cholesky_refusals(make: Make) -> Iterator[Refusal]:
    yield from square_refusals(make)
    for values, upper in (([[1, 0], [2, 1]], False), ([[1, 2], [0, 1]], True), ([[0]], False)):
        indefinite = call(make.put(values), upper=upper)
        yield Refusal(indefinite, "positive definite, which matrix 0 is not", LinAlgError)


def eigh_refusals(make: Make) -> Iterator[Refusal]:
    yield from square_refusals(make)
    yield Refusal(call(make(2, 2), "X"), "`UPLO` must be 'L' or 'U', got 'X'")


def np_eigh(A: Any, UPLO: str = "L") -> Any:
    return tuple(np.linalg.eigh(np_hermitian(A, UPLO in "Uu")))


def np_eigvalsh(A: Any, UPLO: str = "L") -> Any:
    return np.linalg.eigvalsh(np_hermitian(A, UPLO in "Uu"))


def spectral_gauge(out: Any) -> Any:
    """Eigenvalues, and a matrix in which each vector's phase cancels."""
    values, vectors = out
    weights = jnp.arange(1, values.shape[-1] + 1, dtype=vectors.dtype)
    weighted = vectors * jnp.broadcast_to(weights, vectors.shape)
    return values, weighted @ jnp.conj(jnp.swapaxes(vectors, -1, -2))


def qr_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2))
    yield call(make.matrix(2, 2, 3))
    yield call(make.matrix(2, 2), "complete")
    yield call(make.matrix(2, 3), mode="complete")
    yield call(make.matrix(1, 1))
    yield call(make.matrix(0, 2))
    yield call(make.matrix(2, 3, 0))
    yield edge(make.matrix(3, 2), "r")
    yield edge(make.matrix(3, 2), "complete")


def qr_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`A` must be \[..., m, n\]")
    yield Refusal(call(make(2, 2), "full"), "`mode` must be 'reduced', 'complete' or 'r'")


def np_qr(A: Any, mode: Any = "reduced") -> Any:
    if mode == "r":
        return np.zeros((0,), A.dtype), np.linalg.qr(A, mode)
    return tuple(np.linalg.qr(A, mode))


def cholesky_conventions(make: Make) -> Iterator[Convention]:
    """One triangle is read, and the gradient is symmetric."""
    A = np.asarray([[4, np.nan], [2, 10]])
    lower, upper = call(make.put(A)), call(make.put(A.T), upper=True)
    gradient = [[-0.125, 0.25], [0.25, 0]]
    entry = lambda L: L[1, 0]
    value = [[2, 0], [1, 3]]
    yield Convention("lower", lower, value=value, through=entry, gradient=gradient)
    entry = lambda U: U[0, 1]
    value = [[2, 1], [0, 3]]
    yield Convention("upper", upper, value=value, through=entry, gradient=gradient)
    yield Convention(
        "the diagonal is real: the imaginary part of its cotangent counts for nothing",
        call(make.put([[2, 1j], [-1j, 3]], "complex128")),
        through=lambda L: L[0, 0].imag,
        gradient=np.zeros((2, 2)),
        departure="PyTorch's gradient gets an anti-Hermitian part",
    )


def eigh_conventions(make: Make) -> Iterator[Convention]:
    """One triangle is read, and the gradient is symmetric."""
    A = np.asarray([[2, np.nan], [2, 5]])
    for UPLO, matrix in (("L", A), ("U", A.T)):
        yield Convention(
            f"UPLO={UPLO!r}",
            call(make.put(matrix), UPLO),
            value=([1, 6], None),
            through=lambda out: out[0][1],
            gradient=[[0.2, 0.4], [0.4, 0.8]],
            ulps=100,
        )
    yield Convention(
        "eigenvalues that meet have the gradient of their sum",
        call(make.put(np.eye(2))),
        through=lambda out: out[0],
        gradient=np.eye(2),
    )


def eigvalsh_conventions(make: Make) -> Iterator[Convention]:
    """One triangle is read, and the gradient is symmetric."""
    A = np.asarray([[2, np.nan], [2, 5]])
    for UPLO, matrix in (("L", A), ("U", A.T)):
        yield Convention(
            f"UPLO={UPLO!r}",
            call(make.put(matrix), UPLO),
            value=[1, 6],
            through=lambda values: values[1],
            gradient=[[0.2, 0.4], [0.4, 0.8]],
            ulps=100,
        )
    meeting = call(make.put(np.eye(2)))
    zeros = np.zeros((4, 4))
    what = "values that meet have the derivatives of their sum"
    yield Convention(what, meeting, gradient=np.eye(2), hessian=zeros, departure=INFINITE)
    at = call(make.put(np.diag([1.0, 1, 3])))
    what = "another than those that meet"
    yield Convention(what, at, through=lambda values: values[..., -1:], like=apart, floor=1e-14)


def apart(A):
    """The largest eigenvalue of `diag(1, 1, 3)`, right to the second order."""
    beside = (A[2, :2] + A[:2, 2]) / 2
    return (A[2, 2] + (beside**2).sum() / 2)[None]


def qr_conventions(make: Make) -> Iterator[Convention]:
    tall = make.put([[1, 2], [3, 4], [5, 7]])
    for mode in ("r", "complete"):
        yield Convention(
            f"mode={mode!r} has no derivative",
            call(tall, mode),
            through=lambda out: out.R,
            refused="must not be differentiated",
        )


COMPLETE = FixedSizes(
    "A",
    "Q has a derivative where m <= n alone: sizes that leave this open are refused",
    dims=(-2, -1),
    given={"mode": "complete"},
)

OPS = [
    OpInfo(
        functx.linalg.cholesky,
        cholesky_samples,
        np_cholesky,
        cholesky_refusals,
        directions=hermitian_part,
        tolerances=(FACTORED,),
        conventions=cholesky_conventions,
    ),
    OpInfo(
        functx.linalg.eigh,
        eigh_samples,
        np_eigh,
        eigh_refusals,
        directions=hermitian_part,
        gauge=spectral_gauge,
        tolerances=(FACTORED,),
        conventions=eigh_conventions,
    ),
    OpInfo(
        functx.linalg.eigvalsh,
        eigh_samples,
        np_eigvalsh,
        eigh_refusals,
        directions=hermitian_part,
        tolerances=(FACTORED,),
        conventions=eigvalsh_conventions,
    ),
    OpInfo(
        functx.linalg.qr,
        qr_samples,
        np_qr,
        qr_refusals,
        gauge=signless,
        tolerances=(FACTORED,),
        conventions=qr_conventions,
        fixed_sizes=(COMPLETE,),
    ),
]
