"""Samples of Cholesky factors, and of what they solve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx
from functx.linalg import LinAlgError
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED

from .directions import hermitian_part
from .triangular_matrices import dominant, np_adjoint, np_triangle


def cholesky_samples(make: Make) -> Iterator[Sample]:
    yield call(make.positive_definite(3, 3))
    yield call(make.positive_definite(2, 2, 2), upper=True)
    yield call(make.positive_definite(1, 1), True)
    yield call(make.positive_definite(0, 0))
    yield call(make.positive_definite(2, 0, 0))
    yield call(make.positive_definite(0, 2, 2))
    yield call(make.positive_definite(3, 3) + jnp.triu(make(3, 3), 1))
    yield call(make.positive_definite(3, 3) + jnp.tril(make(3, 3), -1), upper=True)


def np_cholesky(input: Any, upper: bool = False) -> Any:
    A = np_adjoint(input) if upper else input
    strict = np.tril(A, -1)
    L = np.linalg.cholesky(strict + np_adjoint(strict) + np.eye(A.shape[-1]) * A.real)
    return np_adjoint(L) if upper else L


def refused_matrices(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`input` must be \[..., n, n\], got f\d\d\[3\]")
    yield Refusal(call(make(2, 3)), r"`input` must be \[..., n, n\], got f\d\d\[2,3\]")


def cholesky_refusals(make: Make) -> Iterator[Refusal]:
    yield from refused_matrices(make)
    for values, upper in (([[1, 0], [2, 1]], False), ([[1, 2], [0, 1]], True), ([[0]], False)):
        indefinite = call(make.put(values), upper=upper)
        wanted = "`input` must be positive definite, which matrix 0 is not"
        yield Refusal(indefinite, wanted, LinAlgError)


def cholesky_conventions(make: Make) -> Iterator[Convention]:
    """One triangle is read, and the gradient is symmetric."""
    A = np.asarray([[4, np.nan], [2, 10]])
    gradient = [[-0.125, 0.25], [0.25, 0]]
    for upper, matrix, value in ((False, A, [[2, 0], [1, 3]]), (True, A.T, [[2, 1], [0, 3]])):
        yield Convention(
            f"upper={upper}",
            call(make.put(matrix), upper),
            value=value,
            through=lambda L, upper=upper: L[0, 1] if upper else L[1, 0],
            gradient=gradient,
        )


def cholesky_inverse_samples(make: Make) -> Iterator[Sample]:
    yield call(dominant(make, 3, 3))
    yield call(dominant(make, 2, 2, 2), upper=True)
    yield call(dominant(make, 1, 1), True)
    yield call(dominant(make, 0, 0))
    yield call(dominant(make, 2, 0, 0))
    yield call(dominant(make, 0, 2, 2))


def np_cholesky_inverse(input: Any, upper: bool = False) -> Any:
    T = np_triangle(input, upper)
    return np.linalg.inv(np_adjoint(T) @ T if upper else T @ np_adjoint(T))


def cholesky_inverse_refusals(make: Make) -> Iterator[Refusal]:
    yield from refused_matrices(make)
    singular = call(make.put([[[1, 0], [2, 1]], [[1, 0], [2, 0]]]))
    wanted = "`input` must be invertible, which matrix 1 is not"
    yield Refusal(singular, wanted, LinAlgError)


DROPPED = "LAPACK takes the diagonal for real where it multiplies"
FILLED = "PyTorch's gradient fills the triangle that is not read"


def cholesky_inverse_conventions(make: Make) -> Iterator[Convention]:
    """The element of $(L L^T)^{-1}$ in the corner is $1 / l_{22}^2$."""
    L = np.asarray([[1, np.nan], [1, 2]])
    for upper, factor in ((False, L), (True, L.T)):
        yield Convention(
            f"upper={upper}: the other triangle is not read",
            call(make.put(factor), upper),
            value=[[1.25, -0.25], [-0.25, 0.25]],
            through=lambda A: A[1, 1],
            gradient=[[0, 0], [0, -0.25]],
            departure=FILLED,
        )
    complex_diagonal = call(make.put([[1 + 1j, 0], [1, 2]], "complex128"))
    value = [[0.625, -0.125 - 0.125j], [-0.125 + 0.125j, 0.25]]
    yield Convention("complex diagonal", complex_diagonal, value=value, departure=DROPPED)


def complex_diagonals(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        f"{DROPPED}, and PyTorch's gradient is a formula of the result",
        call(dominant(make, 2, 2)),
        r"cholesky_inverse\(c",
    )


def cholesky_solve_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 2), dominant(make, 3, 3))
    yield call(make(2, 2, 1), dominant(make, 2, 2, 2), upper=True)
    yield call(make(3, 2, 1), dominant(make, 2, 1, 2, 2))
    yield call(make(3, 2, 1), dominant(make, 2, 2), True)
    yield call(make(1, 1), dominant(make, 1, 1))
    yield call(make(0, 2), dominant(make, 0, 0))
    yield call(make(2, 0), dominant(make, 2, 2))
    yield call(make(2, 1), dominant(make, 0, 2, 2))


def np_cholesky_solve(input: Any, input2: Any, upper: bool = False) -> Any:
    T = np_triangle(input2, upper)
    return np.linalg.solve(np_adjoint(T) @ T if upper else T @ np_adjoint(T), input)


def cholesky_solve_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), make(2, 2)), r"`input` must be \[..., m, n\]")
    yield Refusal(call(make(2, 1), make(2, 3)), r"`input2` must be \[..., n, n\]")
    yield Refusal(call(make(3, 1), make(2, 2)), "`input` must have as many rows as `input2`")
    yield Refusal(
        call(make(4, 2, 1), make(3, 2, 2)),
        r"`input2` and `input` must have leading dimensions that broadcast, got \w+\[3,2,2\]",
    )


def cholesky_solve_conventions(make: Make) -> Iterator[Convention]:
    L, B = np.asarray([[1, np.nan], [1, 2]]), make.put([[0], [1]])
    for upper, factor in ((False, L), (True, L.T)):
        yield Convention(
            f"upper={upper}: the other triangle is not read",
            call(B, make.put(factor), upper),
            value=[[-0.25], [0.25]],
            through=lambda X: X[1],
            gradient=([[-0.25], [0.25]], [[0, 0], [0, -0.25]]),
            departure=FILLED,
        )


OPS = [
    OpInfo(
        functx.cholesky,
        cholesky_samples,
        np_cholesky,
        cholesky_refusals,
        directions=hermitian_part,
        tolerances=(FACTORED,),
        conventions=cholesky_conventions,
    ),
    OpInfo(
        functx.cholesky_inverse,
        cholesky_inverse_samples,
        np_cholesky_inverse,
        cholesky_inverse_refusals,
        tolerances=(FACTORED,),
        conventions=cholesky_inverse_conventions,
        departures=(complex_diagonals,),
    ),
    OpInfo(
        functx.cholesky_solve,
        cholesky_solve_samples,
        np_cholesky_solve,
        cholesky_solve_refusals,
        tolerances=(FACTORED,),
        conventions=cholesky_solve_conventions,
    ),
]
