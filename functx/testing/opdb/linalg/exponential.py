"""Samples of the matrix exponential."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import FACTORED


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 3, low=-1, high=1))
    yield call(make.put(np.asarray(make(2, 2, 2)) * [[[0.01]], [[1]]]))
    yield edge(make(2, 1, 2, 2))
    yield edge(make.small(2, 2))
    yield edge(make.put(np.diag([5, -2]) + np.diag([100], 1)))
    yield edge(make(1, 1))
    yield edge(make(0, 0))
    yield edge(make(2, 0, 0))
    yield edge(make(0, 2, 2))


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`A` must be \[..., n, n\], got f\d\d\[3\]")
    yield Refusal(call(make(2, 3)), r"`A` must be \[..., n, n\], got f\d\d\[2,3\]")
    for dtype in ("int32", "bool"):
        at = call(make(2, 2, dtype=dtype))
        yield Refusal(at, "expected inexact arrays", TypeError)


def np_matrix_exp(A: Any) -> Any:
    out = np.array(A)
    for i in np.ndindex(A.shape[:-2]):
        diagonal = np.diag(np.diag(A[i])) if A.size else A[i]
        if np.isfinite(A[i]).all():
            out[i] = in_extended_precision(A[i])
        elif np.array_equal(A[i], diagonal, equal_nan=True):
            out[i] = np.diag(np.exp(np.diag(A[i])))
        else:
            out[i] = np.nan
    return out


def in_extended_precision(A: Any) -> Any:
    """By the power series; SciPy's `expm` errs by thousands of ulps for some 2 by 2 matrices."""
    halvings = 0 if not A.size else max(0, int(np.ceil(np.log2(np.abs(A).max() + 1e-300))) + 2)
    A = np.asarray(A, np.result_type(A.dtype, np.longdouble)) / 2.0**halvings
    total = term = np.eye(A.shape[-1], dtype=A.dtype)
    for k in range(1, 30):
        term = term @ A / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


def series(A: Any) -> Any:
    """The sum to the 24th power, for matrices whose norm is at most 1 or that are nilpotent."""
    term = total = jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape) + 0 * A
    for k in range(1, 25):
        term = term @ A / k
        total = total + term
    return total


def conventions(make: Make) -> Iterator[Convention]:
    plain = np.diag([3, -2], 1), np.diag([0.5, -1, 0.25])
    for what, order, A in [
        ("zero", 2, np.zeros((2, 2))),
        ("eigenvalues that coincide", 2, np.diag([0.5, 0.5, 0.5]) + np.diag([1, 0], 1)),
        ("nilpotent, and diagonal", 1, np.stack(plain)),
        ("of a tiny norm", 1, np.asarray([[1e-9, 2e-9], [-1e-9, 0]])),
    ]:
        at = call(make.put(A))
        yield Convention(what, at, like=series, order=order, ulps=50, floor=1e-14)
    e = math.e
    yield Convention(
        "far from normal",
        call(make.put([[1, 1e10], [0, -1]])),
        value=[[e, 1e10 * math.sinh(1)], [0, 1 / e]],
        ulps=100,
        departure="PyTorch scales by the norm, and loses digits",
    )
    yield Convention(
        "a gradient beside the largest numbers",
        call(make.put([[-1e308, 0], [1e308, 0]])),
        through=lambda y: y[1, 1],
        gradient=[[0, 1], [0, 1]],
    )
    rotation = make.put([[0, 1e4], [-1e4, 0]])
    turned = [[math.cos(1e4), math.sin(1e4)], [-math.sin(1e4), math.cos(1e4)]]
    yield Convention("of a large norm", call(rotation), value=turned, ulps=0, floor=1e-11)
    both = make.put([[[1e-12, 2e-12], [0, 0]], [[0, 1e12], [0, 0]]])
    value = [[[1 + 1e-12, 2e-12 * (1 + 5e-13)], [0, 1]], [[1, 1e12], [0, 1]]]
    yield Convention("norms that differ within a batch", call(both), value=value)
    nothing = np.full((2, 2), np.nan)
    for bad in (np.inf, np.nan):
        yield Convention(f"{bad}", call(make.put([[1, bad], [0, 1]])), value=nothing)
    one_bad = call(make.put([[[1, np.nan], [0, 1]], [[0, 2], [0, 0]]]))
    yield Convention("NaN in one of a batch", one_bad, value=[nothing, [[1, 2], [0, 1]]])
    value = [[np.inf, 0], [0, 0]]
    yield Convention("a diagonal out of range", call(make.put(np.diag([1e3, -1e3]))), value=value)
    yield Convention(
        "an infinite diagonal",
        call(make.put(np.diag([np.inf, -np.inf]))),
        value=value,
        departure="PyTorch squares infinities, and gets NaN",
    )
    at = call(make.put([[-np.inf]]))
    wrong = "PyTorch's gradient is NaN"
    yield Convention("one element", at, value=[[0]], gradient=[[0]], departure=wrong)
    ones = (math.e**2 - 1) / 2 + np.eye(2)
    yield Convention(
        "halves are computed in single precision",
        call(make.put([[1, 1], [1, 1]], "float16")),
        holds=lambda y: y == ones.astype("float16"),
    )


def departures(make: Make) -> Iterator[Departure]:
    largest = make.put([[-1.7976931348623157e308j, 100], [0.001 - 1e4j, 0.5j]], "complex128")
    yield Departure(
        "gradient",
        "a matrix as large as can be leaves its exponential no digits",
        call(largest),
        r"\[\[.*\de\+30\d|\[\.\. \d\.\de\+30\d",
    )


OPS = [
    OpInfo(
        functx.matrix_exp,
        samples,
        np_matrix_exp,
        refusals,
        tolerances=(FACTORED,),
        conventions=conventions,
        departures=(departures,),
        gaps=(
            Gap(
                "extremal",
                "its powers leave the range of float32 on the way",
                at="mixed in array 0",
            ),
        ),
    ),
]
