"""Samples of determinants."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED

from .square_matrices import square_refusals, square_samples


def np_slogdet(A: Any) -> Any:
    return tuple(np.linalg.slogdet(A))


def leibniz(A):
    """The determinant as the polynomial that it is."""
    n = A.shape[-1]
    total = 0.0
    for order in itertools.permutations(range(n)):
        sign = (-1) ** sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
        total = total + sign * math.prod(A[..., i, order[i]] for i in range(n))
    return total


def det_conventions(make: Make) -> Iterator[Convention]:
    singular = [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]
    for what, matrix in [
        ("zero", np.zeros((3, 3))),
        ("rank 1", np.outer([1.0, 2, 3], [1.0, -1, 2])),
        ("reflection", np.diag([1.0, -1, 1])),
        ("one by one", np.zeros((1, 1))),
    ]:
        yield Convention(what, call(make.put(matrix)), like=leibniz, ulps=100, floor=1e-12)
    small = [[2.0, 1, -1], [1, 3, 1], [-1, 2, 4]]
    yield Convention("small", call(make.put(small) / 2**12), like=leibniz, order=1, ulps=100)
    stack = call(make.put([small, np.outer([1.0, 2, 3], [1.0, -1, 2]), singular]))
    yield Convention("a stack, of any ranks", stack, like=leibniz, ulps=100, floor=1e-12)
    rank_2 = call(make.put(singular))
    yield Convention("rank 2, to third order", rank_2, like=leibniz, order=3, ulps=100, floor=1e-9)
    for what, equal in (("zero", np.zeros((3, 3))), ("the identity", np.eye(3))):
        at = call(make.put(equal))
        yield Convention(f"{what}, to third order", at, like=leibniz, order=3, floor=1e-12)
    yield Convention(
        "complex and singular",
        call(make.put([[1, 1j, 0], [1j, -1, 0], [2, 0, 1j]], "complex128")),
        like=leibniz,
        through=lambda d: d.real + 2 * d.imag,
        ulps=100,
        floor=1e-12,
    )


def slogdet_conventions(make: Make) -> Iterator[Convention]:
    yield Convention(
        "singular",
        call(make.put([[1.0, 1], [1, 1]])),
        value=(0, -np.inf),
        through=lambda out: out[1],
        gradient=[[np.inf, -np.inf], [-np.inf, np.inf]],
        modes=("reverse",),  # forward, infinities cancel
    )


def positive_samples(make: Make) -> Iterator[Sample]:
    """Square matrices, the real ones of positive determinant."""
    for sample in square_samples(make):
        A = np.asarray(sample.args[0])
        sign = np.linalg.det(A.astype(np.result_type(A.dtype, np.float64)))
        if category(A.dtype) < 3 and A.size:
            A = A * np.concatenate(
                [np.sign(sign)[..., None, None], np.ones((*A.shape[:-2], A.shape[-1] - 1, 1))], -2
            )
        yield call(make.put(A))


def np_logdet(input: Any) -> Any:
    sign, size = np.linalg.slogdet(input)
    if category(input.dtype) == 3:
        return size + 1j * np.angle(sign)
    return np.where(sign < 0, np.nan, size)


def logdet_conventions(make: Make) -> Iterator[Convention]:
    negative = call(make.put([[1.0, 0], [0, -2]]))
    yield Convention("negative", negative, value=np.nan, gradient=np.zeros((2, 2)))
    yield Convention(
        "singular",
        call(make.put([[1.0, 1], [1, 1]])),
        value=-np.inf,
        gradient=[[np.inf, -np.inf], [-np.inf, np.inf]],
        modes=("reverse",),  # forward, infinities cancel
    )
    yield Convention(
        "a complex phase",
        call(make.put([[1j, 0], [0, -1]], "complex128")),
        value=-0.5j * np.pi,
        through=lambda out: out.real + 2 * out.imag,
        gradient=[[-2 + 1j, 0], [0, -1 - 2j]],
    )
    nothing = complex(-np.inf, np.nan)
    yield Convention("no phase", call(make.put(np.ones((2, 2)), "complex128")), value=nothing)


def logdet_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3)), r"`input` must be \[..., n, n\], got f\d\d\[2,3\]")


def singular_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "the gradient is the matrix of cofactors, which PyTorch drops where the determinant is 0",
        call(make.put(np.ones((2, 2)), "complex128")),
        r"PyTorch (0j|-?0\.0|\(-?0[+-]0j\)) ",
    )


OPS = [
    OpInfo(
        functx.linalg.det,
        square_samples,
        np.linalg.det,
        square_refusals,
        tolerances=(FACTORED,),
        conventions=det_conventions,
        departures=(singular_departures,),
    ),
    OpInfo(
        functx.linalg.slogdet,
        square_samples,
        np_slogdet,
        square_refusals,
        tolerances=(FACTORED,),
        conventions=slogdet_conventions,
    ),
    OpInfo(
        functx.logdet,
        positive_samples,
        np_logdet,
        logdet_refusals,
        tolerances=(FACTORED,),
        conventions=logdet_conventions,
    ),
]
