"""Samples of operators that say in a number for which matrices they failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx
from functx.linalg import LinAlgError
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED

from .directions import hermitian_part
from .square_matrices import invertible_refusals, square_refusals, square_samples
from .triangular_matrices import np_adjoint


def cholesky_ex_samples(make: Make) -> Iterator[Sample]:
    yield call(make.positive_definite(3, 3) + jnp.triu(make(3, 3), 1))
    yield call(make.positive_definite(2, 2, 2) + jnp.tril(make(2, 2), -1), upper=True)
    yield call(make.positive_definite(2, 2), check_errors=True)
    yield call(make.positive_definite(1, 1))
    yield call(make.positive_definite(0, 0))
    yield call(make.positive_definite(2, 0, 0))
    yield call(make.positive_definite(0, 2, 2))


def np_cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    read = np_adjoint(A) if upper else A  # NumPy reads the lower triangle
    L = np.linalg.cholesky(read)
    return np_adjoint(L) if upper else L, np.zeros(A.shape[:-2], np.int32)


def cholesky_ex_refusals(make: Make) -> Iterator[Refusal]:
    yield from square_refusals(make)
    for values, upper in (([[1, 0], [2, 1]], False), ([[1, 2], [0, 1]], True)):
        indefinite = call(make.put(values), upper=upper, check_errors=True)
        yield Refusal(indefinite, "positive definite, which matrix 0 is not", LinAlgError)


def cholesky_ex_conventions(make: Make) -> Iterator[Convention]:
    nan = np.nan
    for what, matrix, upper, order in [
        ("the second minor", [[1, 5, 5], [2, 4, 5], [3, 5, 7]], False, 2),
        ("the second minor, above", [[1, 2, 3], [5, 4, 5], [5, 5, 7]], True, 2),
        ("the third minor", [[1, 5, 5], [0, 1, 5], [1, 1, 1]], False, 3),
        ("NaN in the corner", [[nan, 2], [2, 4]], False, 1),
        ("NaN beside it", [[1, 2], [nan, 4]], False, 2),
        ("a batch", [[[-1, 0], [0, 1]], [[4, 0], [2, 0]]], False, [1, 2]),
        ("NaN that is not read", [[4, nan], [2, 10]], False, 0),
    ]:
        at = call(make.put(matrix), upper=upper)
        yield Convention(what, at, value=(None, np.asarray(order)))
    indefinite = call(make.put([[1, 2], [2, 1]]))
    nothing = (np.asarray([[nan, 0], [nan, nan]]), np.asarray(2))
    half = "PyTorch leaves the factor half done"
    yield Convention("not positive definite", indefinite, value=nothing, departure=half)


def inv_ex_samples(make: Make) -> Iterator[Sample]:
    yield from square_samples(make)
    yield call(make.matrix(2, 2), check_errors=True)


def np_inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    return np.linalg.inv(A), np.zeros(A.shape[:-2], np.int32)


SINGULAR = [[[1.0, 0], [0, 1]], [[1, 2], [2, 4]], [[0, 1], [0, 1]]]
INFO = (None, np.asarray([0, 2, 1]))


def inv_ex_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("singular", call(make.put(SINGULAR)), value=INFO)


def solve_ex_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 3), make(3, 2))
    yield call(make.matrix(2, 2, 2), make(2, 2))
    yield call(make.matrix(2, 2), make(2))
    yield call(make.matrix(2, 2), make(3, 2), left=False)
    yield call(make.matrix(2, 2), make(2, 1), check_errors=True)
    yield call(make.matrix(2, 1, 2, 2), make(3, 2, 1))
    yield call(make.matrix(2, 2), make(2, 2, 1))
    yield call(make.matrix(0, 0), make(0, 2))
    yield call(make.matrix(2, 2), make(2, 0))
    yield call(make.matrix(0, 2, 2), make(0, 2, 1))


def np_solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    info = np.zeros(A.shape[:-2], np.int32)
    if B.ndim == 1 or B.shape == A.shape[:-1]:
        return (np.linalg.inv(A) @ B[..., None])[..., 0], info
    return np.linalg.inv(A) @ B if left else B @ np.linalg.inv(A), info


def solve_ex_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(2)), r"`A` must be \[..., n, n\]")
    yield Refusal(call(make(2, 2), make(3, 1)), "do not fit A X = B")
    singular = call(make.put([[1, 2], [2, 4]]), make(2), check_errors=True)
    yield Refusal(singular, "invertible, which matrix 0 is not", LinAlgError)


def solve_ex_conventions(make: Make) -> Iterator[Convention]:
    for left in (True, False):
        at = call(make.put(SINGULAR), make.put(np.ones((3, 2, 2))), left=left)
        yield Convention(f"singular, left={left}", at, value=INFO)


OPS = [
    OpInfo(
        functx.linalg.cholesky_ex,
        cholesky_ex_samples,
        np_cholesky_ex,
        cholesky_ex_refusals,
        directions=hermitian_part,
        tolerances=(FACTORED,),
        conventions=cholesky_ex_conventions,
    ),
    OpInfo(
        functx.linalg.inv_ex,
        inv_ex_samples,
        np_inv_ex,
        invertible_refusals,
        tolerances=(FACTORED,),
        conventions=inv_ex_conventions,
    ),
    OpInfo(
        functx.linalg.solve_ex,
        solve_ex_samples,
        np_solve_ex,
        solve_ex_refusals,
        tolerances=(FACTORED,),
        conventions=solve_ex_conventions,
    ),
]
