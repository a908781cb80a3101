"""Samples of norms of matrices and of condition numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED, SUMS

from .largest_values import largest_of


inf = math.inf
HALVES = frozenset({"float16", "bfloat16"})
HALF_MATRICES = (
    Departure(
        "dtype",
        "PyTorch decomposes no matrices of halves",
        answer=r"\1",
        match="'nuc', dtype=(.*?)\\)",
        dtypes=HALVES,
    ),
    Departure(
        "dtype",
        "PyTorch decomposes no matrices of halves",
        answer="*",
        match=r"'nuc'|int, \[|dtype=\*",
        dtypes=HALVES,
    ),
)


def matrix_samples(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(2, 3))
    yield call(make.nonzero(2, 3, 2), "fro", (0, -1), True)
    yield call(make.distinct(3, 2), 1)
    yield call(make.distinct(3, 2), -1, keepdim=True)
    yield call(make.distinct(2, 3, 2), inf, (2, 0))
    yield call(make.distinct(2, 3, 2), -inf, dim=(0, 1))
    yield call(make.distinct(2, 3, 2), 1, dim=(1, 0), keepdim=True)
    yield call(make(0, 3))
    yield call(make(0, 3), inf)
    yield call(make(2, 0, 3), -1)
    yield call(make(3, 0), 1)


def spectral_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2), 2)
    yield call(make.matrix(2, 3), -2, keepdim=True)
    yield call(make.matrix(3, 2), "nuc")
    yield call(make.matrix(2, 2, 3), 2, (0, -1))
    yield call(make.matrix(2, 2, 3), "nuc", (2, 0), True)
    yield call(make(0, 3), 2)
    yield call(make(2, 0, 3), "nuc")


def wider(make: Make) -> str:
    return "complex128" if make.dtype.kind == "c" else "float64"


def wider_samples(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(2, 3), dtype=wider(make))
    yield call(make.distinct(3, 2), 1, dtype=wider(make))


def norm_samples(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(2, 3))
    yield call(make.nonzero(2, 3, 2), keepdim=True)
    yield call(make.nonzero(2, 3), dim=0)
    yield call(make.nonzero(2, 3, 2), None, (0, -1), True)
    yield call(make.nonzero(3), 3)
    yield call(make.nonzero(2, 3), 0.5, 1)
    yield call(make.distinct(2, 3), inf, (1,), True)
    yield call(make.nonzero(2, 3), 0, -1)
    yield call(make.distinct(3, 2), 1)
    yield call(make.distinct(3, 2), -inf)
    yield call(make.nonzero(3, 2), "fro")
    yield call(make.nonzero(2, 3, 2), "fro", (2, 0))
    yield call(make.nonzero())
    yield call(make(0, 3))


def spectral_norm_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2), "nuc")
    yield call(make.matrix(3, 2), -2)
    yield call(make.matrix(2, 2, 3), 2, (0, 2), True)


def wider_norm_samples(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(2, 3), dtype=wider(make))
    yield call(make.distinct(3, 2), 1, dtype=wider(make))
    yield call(make.nonzero(2, 3), 3, 1, dtype=wider(make))


def cond_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2))
    yield call(make.matrix(2, 2, 3), 2)
    yield call(make.matrix(3, 3), -2)
    yield call(make.matrix(3, 3), "fro")
    yield call(make.matrix(2, 2, 2), "nuc")
    yield call(make.matrix(3, 3), 1)
    yield call(make.matrix(3, 3), -1)
    yield call(make.matrix(2, 2), inf)
    yield call(make.matrix(2, 2), -inf)
    yield call(make.matrix(2, 0, 3))
    yield call(make.matrix(2, 0, 0), 1)
    yield call(make.matrix(0, 2, 2), "fro")


def dim_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3, dtype="float32")
    yield Refusal(call(x, 3), "`ord` must be one of 'fro', 'nuc', .*got 3")
    yield Refusal(call(x, "max"), "`ord` must be one of 'fro', 'nuc', .*got 'max'")
    yield Refusal(call(x, "fro", (0, 0)), "names a dimension twice")
    yield Refusal(call(x, "fro", (0, 2)), r"`dim` must lie in \[-2, 1\]", IndexError)
    for dim in ((0,), (0, 1, 2)):
        at = call(make(2, 3, 2, dtype="float32"), "fro", dim)
        yield Refusal(at, "`dim` must (name the two dimensions|be one dimension or two)")
    yield Refusal(call(make(3, 0, dtype="float32"), -1), "elements to choose from for ord=-1")
    yield Refusal(call(x, dtype="float16"), "`dtype` must hold the values of", TypeError)
    yield Refusal(call(x, dtype="complex64"), "`dtype` must hold the values of", TypeError)
    yield Refusal(call(make(2, 2, dtype="int32")), "expected inexact arrays", TypeError)


def matrix_refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield Refusal(call(make(3)), r"`dim` must lie in \[-1, 0\]", IndexError)
    yield Refusal(call(make(2, 3), dim=()), "`dim` must name the two dimensions")


def norm_refusals(make: Make) -> Iterator[Refusal]:
    yield from dim_refusals(make)
    yield Refusal(call(make(2, 3), dim=()), "`dim` must be one dimension or two")
    for ord in (2, "fro"):
        yield Refusal(call(make(2, 3, 2), ord), "`dim` must be given for `ord`")
        yield Refusal(call(make(), ord), "`dim` must be given for `ord`")
    yield Refusal(call(make(3), "fro"), r"`A` must be \[..., m, n\]")
    yield Refusal(call(make(2, 3), "nuc", 0), "`dim` must name the two dimensions")
    yield Refusal(call(make(3), 1j), "`ord` must be a real number", TypeError)
    yield Refusal(call(make(2, 3), 0), "`ord` must be one of")


def cond_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`A` must be \[..., m, n\]")
    for p in ("fro", 1):
        yield Refusal(call(make(2, 3), p), r"`A` must be \[..., n, n\]")
    for p in (3, "max"):
        yield Refusal(call(make(2, 2), p), "`p` must be None or one of 'fro', 'nuc'")
    wrong = "expected float32, float64, complex64 or complex128 arrays"
    yield Refusal(call(make(2, 2, dtype="bfloat16")), wrong, TypeError)


def np_matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim=False, *, dtype=None):
    A = np.moveaxis(A, dim, (-2, -1))
    if ord == "fro":
        out = np.sqrt((np.abs(A) ** 2).sum((-2, -1)))
    elif ord in ("nuc", 2, -2):
        values = np.linalg.svd(A, compute_uv=False)
        pick = {"nuc": np.sum, 2: lambda s, axis: s.max(axis, initial=0), -2: np.min}[ord]
        out = pick(values, axis=-1)
    else:
        sums = np.abs(A).sum(-2 if abs(ord) == 1 else -1)
        out = sums.max(-1, initial=0) if ord > 0 else sums.min(-1)
    return np.expand_dims(out, dim) if keepdim else out


def np_norm(A: Any, ord: Any = None, dim: Any = None, keepdim=False, *, dtype=None):
    if ord is None and dim is None:
        return np.sqrt(np.sum(np.abs(A) ** 2, keepdims=keepdim))
    dim = tuple(range(A.ndim)) if dim is None else dim
    dim = dim[0] if isinstance(dim, tuple) and len(dim) == 1 else dim
    return np.linalg.norm(A, ord, dim, keepdim)


def np_cond(A: Any, p: Any = None):
    return np.linalg.cond(A, p) if A.size else np.zeros(A.shape[:-2])


def matrix_conventions(make: Make) -> Iterator[Convention]:
    zero, ties = np.zeros((2, 2)), [[1.0, -2.0], [2.0, 1.0]]
    half = [[0.5, -0.5], [0.5, 0.5]]
    for at, ord, gradient in [
        (zero, "fro", zero),
        (zero, 1, zero),
        (zero, inf, zero),
        (ties, 1, half),
        (ties, -1, half),
        (ties, inf, half),
        (ties, -inf, half),
        ([[0.0, 2.0], [3.0, 0.0]], 1, [[0, 0], [1, 0]]),
    ]:
        what = f"ord={ord} at {np.asarray(at).tolist()}"
        yield Convention(what, call(make.put(at), ord), gradient=gradient)
    yield Convention("second derivative at 0", call(make.put(zero)), singular=True)
    nan = call(make.put([[math.nan, 1.0], [2.0, 3.0]]), inf)
    yield Convention("NaN is the largest", nan, value=math.nan)


def spectral_conventions(make: Make) -> Iterator[Convention]:
    for at, ord, gradient in [
        ([[3.0, 0.0], [0.0, 1.0]], 2, [[1, 0], [0, 0]]),
        ([[3.0, 0.0], [0.0, 1.0]], -2, [[0, 0], [0, 1]]),
        ([[3.0, 0.0], [0.0, 3.0]], "nuc", np.eye(2)),
        ([[3.0, 0.0], [0.0, 3.0]], 2, np.eye(2) / 2),
    ]:
        what = f"ord={ord} at {np.asarray(at).tolist()}"
        yield Convention(what, call(make.put(at), ord), gradient=gradient)
    for rest in (1, 0):
        at, like = call(make.put(np.diag([3.0, rest, rest])), 2), largest_of(3.0, rest)
        yield Convention(f"ord=2, beside others that are {rest}", at, like=like, floor=1e-14)
    endless = call(make.put([[inf, 1.0], [2.0, 3.0]]), 2)
    yield Convention("infinities", endless, value=math.nan)


def norm_conventions(make: Make) -> Iterator[Convention]:
    half = call(make.put([3.0, -3.0]), inf)
    yield Convention("two that are largest", half, gradient=[0.5, -0.5])
    ties = call(make.put([[1.0, -2.0], [2.0, 1.0]]), 1)
    yield Convention("two columns", ties, gradient=[[0.5, -0.5], [0.5, 0.5]])
    zero = call(make.put(np.zeros((2, 2))))
    yield Convention("at 0", zero, gradient=np.zeros((2, 2)), singular=True)


def wider_conventions(make: Make) -> Iterator[Convention]:
    for ord, gradient in (("fro", np.zeros((2, 2))), (1, np.zeros((2, 2)))):
        sample = call(make.put(np.zeros((2, 2)), "float32"), ord, dtype="float64")
        yield Convention(f"ord={ord} at 0, computed wider", sample, gradient=gradient)


def cond_conventions(make: Make) -> Iterator[Convention]:
    singular = make.put([[1.0, 2.0], [2.0, 4.0]])
    for p in ("fro", 1, -1, inf, -inf):
        yield Convention(f"singular, p={p}", call(singular, p), value=inf)
    nothing = make.put(np.zeros((2, 2)))
    for p in (2, -2, "nuc"):
        yield Convention(f"nothing but 0, p={p}", call(nothing, p), value=math.nan)
    flat = make.put([[1.0, 0.0], [0.0, 0.0]])
    for p in (None, "nuc"):
        yield Convention(f"a singular value of 0, p={p}", call(flat, p), value=inf)
    at = call(make.put(2 * np.eye(2)), "nuc")
    yield Convention("equal singular values", at, like=nuclear_condition, floor=1e-13)
    diagonal = make.put([[2.0, 0.0], [0.0, 8.0]])
    yield Convention("a diagonal", call(diagonal), value=4, gradient=[[-2, 0], [0, 0.5]])


def nuclear_condition(A, p):
    """Of two singular values, whose squares and product are polynomials."""
    determinant = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    return (A**2).sum() / determinant + 2


def half_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "PyTorch decomposes no matrices of halves",
        call(make(3, 2, dtype="float16"), -2),
        "Low precision dtypes not supported",
    )


OPS = [
    OpInfo(
        functx.linalg.matrix_norm,
        matrix_samples,
        np_matrix_norm,
        matrix_refusals,
        tolerances=(SUMS,),
        conventions=matrix_conventions,
    ),
    OpInfo(
        functx.linalg.matrix_norm,
        spectral_samples,
        np_matrix_norm,
        variant="spectral",
        tolerances=(FACTORED,),
        conventions=spectral_conventions,
        departures=(*HALF_MATRICES, half_departures),
    ),
    OpInfo(
        functx.linalg.matrix_norm,
        wider_samples,
        np_matrix_norm,
        variant="dtype",
        tolerances=(SUMS,),
        conventions=wider_conventions,
    ),
    OpInfo(
        functx.linalg.norm,
        norm_samples,
        np_norm,
        norm_refusals,
        tolerances=(SUMS,),
        conventions=norm_conventions,
    ),
    OpInfo(
        functx.linalg.norm,
        spectral_norm_samples,
        np_norm,
        variant="spectral",
        tolerances=(FACTORED,),
        conventions=spectral_conventions,
        departures=(*HALF_MATRICES, half_departures),
    ),
    OpInfo(
        functx.linalg.norm,
        wider_norm_samples,
        np_norm,
        variant="dtype",
        tolerances=(SUMS,),
        conventions=wider_conventions,
    ),
    OpInfo(
        functx.linalg.cond,
        cond_samples,
        np_cond,
        cond_refusals,
        tolerances=(FACTORED,),
        conventions=cond_conventions,
        kinked=True,
    ),
]
