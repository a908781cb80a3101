"""Samples of LDL factors."""

from __future__ import annotations

import functools as ft
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg.lapack

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import FACTORED

from .directions import hermitian_part, symmetric_part
from .square_matrices import invertible_refusals, square_refusals


# Whose pivots are of one row and two, with exchanges and without.
PATTERNS = [
    [[4, 1, 1], [1, -3, 0], [1, 0, 2]],
    [[0, 1, 4], [1, 0, 1], [4, 1, 1]],
    [[0, 1, 0, 3], [1, 0, 2, 1], [0, 2, 5, 0], [3, 1, 0, -1]],
]


def near(make: Make, pattern: Any, *batch: int) -> Any:
    """A matrix near `pattern`, with something else above its diagonal, which is not read."""
    n = len(pattern)
    return make(*batch, n, n, low=-0.2, high=0.2) + make.put(np.tril(pattern))


def samples(make: Make) -> Iterator[Sample]:
    yield call(near(make, PATTERNS[1]))
    yield call(near(make, PATTERNS[0], 2))
    yield edge(near(make, PATTERNS[2]))
    yield edge(near(make, [[3]]))
    yield call(make(2, 0, 0))
    yield call(make(0, 2, 2))


def hermitian_samples(make: Make) -> Iterator[Sample]:
    yield call(near(make, PATTERNS[1]), hermitian=True)
    yield edge(near(make, PATTERNS[0]), hermitian=True)
    yield edge(near(make, PATTERNS[2], 2), hermitian=True)


def checked_samples(make: Make) -> Iterator[Sample]:
    yield call(near(make, PATTERNS[1]), hermitian=True)
    yield edge(near(make, PATTERNS[0]))  # its derivatives are in other directions
    yield edge(near(make, PATTERNS[2], 2), hermitian=True)
    yield call(near(make, PATTERNS[0]), hermitian=True, check_errors=True)


def solve_samples(make: Make) -> Iterator[Sample]:
    for hermitian in (False, True):
        yield call(*factors(make, PATTERNS[1], hermitian), make(3, 2), hermitian=hermitian)
    LD, pivots = factors(make, PATTERNS[0], False, 2)
    yield edge(LD, pivots, make(3, 1))
    yield edge(*factors(make, PATTERNS[2], True), make(2, 4, 1), hermitian=True)
    yield edge(*factors(make, [[3]], False), make(1, 2))
    yield edge(make(0, 0), make.put(np.zeros(0), "int32"), make(0, 2))


def factors(make: Make, pattern: Any, hermitian: bool, *batch: int) -> tuple[Any, Any]:
    matrix = np.asarray(near(make, pattern, *batch))
    LD, pivots, _ = np_ldl_factor_ex(matrix, hermitian=hermitian)
    return make.put(LD), make.put(pivots, "int32")


def np_ldl_factor_ex(A: Any, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    LD, info = np.zeros_like(A), np.zeros(A.shape[:-2], "int32")
    pivots = np.zeros(A.shape[:-1], "int32")
    name = "hetrf" if hermitian and A.dtype.kind == "c" else "sytrf"
    factor = scipy.linalg.lapack.get_lapack_funcs(name, (A,))
    for i in np.ndindex(info.shape) if A.size else ():
        found, pivots[i], info[i] = factor(A[i], lower=True)
        LD[i] = np.tril(found)
    return LD, pivots, info


def np_ldl_factor(A: Any, *, hermitian: bool = False) -> Any:
    return np_ldl_factor_ex(A, hermitian=hermitian)[:2]


def np_product(LD: Any, pivots: Any, hermitian: bool) -> Any:
    """The matrix of which these are the factors, step by step from the last."""
    turned = (lambda x: x.conj().T) if hermitian else (lambda x: x.T)
    n, steps, k = len(LD), [], 0
    while k < n:
        steps.append((k, 1 if pivots[k] > 0 else 2))
        k += steps[-1][1]
    A = np.diag(np.real(np.diag(LD)) if hermitian else np.diag(LD)).astype(LD.dtype)
    for k, size in steps:
        if size == 2:
            A[k + 1, k] = LD[k + 1, k]
            A[k, k + 1] = np.conj(A[k + 1, k]) if hermitian else A[k + 1, k]
    for k, size in reversed(steps):
        L = np.eye(n, dtype=LD.dtype)
        L[k + size :, k : k + size] = LD[k + size :, k : k + size]
        A = L @ A @ turned(L)
        order, row, other = np.arange(n), k + size - 1, abs(pivots[k]) - 1
        order[[row, other]] = order[[other, row]]
        A = A[order][:, order]
    return A


def np_ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False) -> Any:
    matrices = np.zeros_like(LD)
    for i in np.ndindex(LD.shape[:-2]):
        matrices[i] = np_product(LD[i], pivots[i], hermitian)
    return np.linalg.solve(matrices, B)


SINGULAR = [[[1.0, 0], [0, 1]], [[1, 2], [2, 4]], [[0, 0], [0, 1]]]


def solve_refusals(make: Make) -> Iterator[Refusal]:
    whole = lambda *values: make.put(values, "int32")
    yield Refusal(call(make(2, 3), whole(1, 2), make(2, 1)), r"`LD` must be \[..., n, n\]")
    yield Refusal(call(make(2, 2), whole(1, 2), make(2)), r"`B` must be \[..., m, n\]")
    for pivots in (whole(1), make.put([1, 2], "float32")):
        yield Refusal(call(make(2, 2), pivots, make(2, 1)), r"`pivots` must be integers \[2\], got")
    yield Refusal(call(make(2, 2), whole(1, 2), make(3, 1)), "do not fit A X = B")
    for pivots in (whole(1, 3), whole(0, 1), whole(-3, -3)):
        yield Refusal(call(make(2, 2), pivots, make(2, 1)), r"`pivots` must lie in \[1, 2\]")
    batches = call(make(2, 2, 2), make.put([[1, 2], [1, 2]], "int32"), make(3, 2, 1))
    yield Refusal(batches, "leading dimensions that broadcast")


def factor_conventions(make: Make) -> Iterator[Convention]:
    swap = call(make.put([[0.0, 5.0], [2.0, 0.0]]))
    yield Convention("a block of two", swap, value=([[0, 0], [2, 0]], [-2, -2]))
    yield from slopes(make)


def slopes(make: Make, **options: Any) -> Iterator[Convention]:
    """At equal elements; the gradient is spread over both triangles."""
    swap = call(make.put([[0.0, 5.0], [2.0, 0.0]]), **options)
    gradient, none = [[1, 0.5], [0.5, 1]], "PyTorch has no derivative"
    first = lambda out: out[0]
    yield Convention("its gradient", swap, through=first, gradient=gradient, departure=none)


def factor_ex_conventions(make: Make) -> Iterator[Convention]:
    yield from slopes(make)
    at = call(make.put(SINGULAR))
    yield Convention("singular", at, value=(None, None, np.asarray([0, 2, 1])))
    nothing = call(make.put(np.zeros((2, 2))))
    value = np.zeros((2, 2)), [1, 2], np.asarray(1)
    yield Convention("nothing but 0", nothing, value=value)


def solve_departures(make: Make) -> Iterator[Departure]:
    lower = make.put(np.eye(3) * 2 + np.tri(3), "float64")
    yield Departure(
        "value",
        "a row is exchanged with a later one; what PyTorch makes of other pivots is LAPACK's",
        call(lower, make.put([2, 1, 1], "int32"), make(3, 1, dtype="float64")),
        r"i32\[\d\]\[\d, 1\b",  # the second row with the first
    )


OF_SINGULAR = Gap("limits", "factors of a singular matrix have no derivatives, and theirs are NaN")

OPS = [
    OpInfo(
        functx.linalg.ldl_factor,
        samples,
        np_ldl_factor,
        square_refusals,
        directions=symmetric_part,
        tolerances=(FACTORED,),
        conventions=factor_conventions,
        gaps=(OF_SINGULAR,),
    ),
    OpInfo(
        functx.linalg.ldl_factor,
        hermitian_samples,
        np_ldl_factor,
        variant="hermitian",
        directions=hermitian_part,
        tolerances=(FACTORED,),
        conventions=ft.partial(slopes, hermitian=True),
        gaps=(OF_SINGULAR,),
    ),
    OpInfo(
        functx.linalg.ldl_factor_ex,
        checked_samples,
        np_ldl_factor_ex,
        invertible_refusals,
        directions=hermitian_part,
        tolerances=(FACTORED,),
        conventions=factor_ex_conventions,
        gaps=(OF_SINGULAR,),
    ),
    OpInfo(
        functx.linalg.ldl_solve,
        solve_samples,
        np_ldl_solve,
        solve_refusals,
        tolerances=(FACTORED,),
        departures=(solve_departures,),
        gaps=(Gap("limits", "blocks of two that hold nothing but ones have no inverse"),),
    ),
]
