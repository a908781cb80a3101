from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge

from .dimensions import axes_of, dims_refusals
from .rows import at_edges, far


def euclidean_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), dim=1)
    yield call(make(2, 3))
    yield call(make(2, 3, 2), "fro", (0, -1), True)
    yield call(make(2, 3, 2), "fro", ())
    yield call(make(2, 3), None, dim=())
    yield call(make.nonzero(), 2, 0)
    yield call(make(2, 0), 2, 1, keepdim=True)
    yield call(make(3), 2, dtype="complex128" if make.dtype.kind == "c" else "float64")
    yield from at_edges(make, dim=-1)


def power_samples(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(2, 3), 3, 1)
    yield call(make.nonzero(2, 3), 1)
    yield call(make.nonzero(2, 3), 0.5, -2)
    yield call(make.nonzero(2, 2), -1, (0, 1), True)
    yield call(make(2, 3), 4, 0)
    yield call(make(2, 3), 0, 0)
    yield from at_edges(make, 3, -1)


def extreme_samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3), math.inf, 1)
    yield call(make.distinct(2, 3), -math.inf, 1)
    yield call(make.distinct(2, 2, 2), math.inf, (0, -1), True)
    yield call(make.distinct(2, 0), math.inf, 0)
    yield from at_edges(make, math.inf, -1)


def nuclear_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2), "nuc")
    yield call(make.matrix(2, 2, 3), "nuc", (1, -1), True)
    yield call(make.matrix(3, 3), "nuc")
    yield call(make(0, 2), "nuc")
    yield edge(far(make, 1, 2, 3, 2), "nuc", (2, -1), True)
    if category(make.dtype) == 2:
        yield edge(make.put([[np.nan, 1], [2, 3]]), "nuc")


def norm_refusals(make: Make) -> Iterator[Refusal]:
    for refusal in dims_refusals(make):
        input, dim = refusal.sample.args
        yield Refusal(call(input, 2, dim), refusal.match, refusal.error)
    yield Refusal(call(make(2, 2), "max"), "`p` must be a number, 'fro' or 'nuc', got 'max'")
    yield Refusal(call(make(2, 2, 2), "nuc"), "two dimensions of a matrix")
    yield Refusal(call(make(2, 2), "nuc", 0), "two dimensions of a matrix")
    yield Refusal(call(make(2, 2), "nuc", ()), "two dimensions of a matrix")
    yield Refusal(call(make(2, 2, 2), "fro", (0, 1, 2)), "at most two dimensions")
    yield Refusal(call(make(2, 0), math.inf), "expected elements to choose from for p=inf")
    yield Refusal(call(make(2, 0), -1, 1), "expected elements to choose from for p=-1")
    yield Refusal(call(make(2), dtype="complex64"), "`dtype` must hold the values", TypeError)
    yield Refusal(call(make(2), dtype="float16"), "`dtype` must hold the values", TypeError)
    yield Refusal(call(make(2, dtype="int32")), "expected inexact arrays", TypeError)


def np_norm(x, p="fro", dim=None, keepdim=False, dtype=None):
    if p == "nuc":
        axes = dim or (0, 1)
        matrices = np.moveaxis(x, axes, (-2, -1))
        finite = np.isfinite(matrices).all((-2, -1), keepdims=True)
        values = np.linalg.svd(np.where(finite, matrices, 0), compute_uv=False)
        total = np.where(finite[..., 0, 0], np.sum(values, axis=-1), np.nan)
        return np.expand_dims(total, axes) if keepdim else total
    p = 2 if p in ("fro", None) else p
    reduce = {"axis": axes_of(dim), "keepdims": keepdim}
    if math.isinf(p):
        return (np.max if p > 0 else np.min)(np.abs(x), **reduce)
    if p == 0:
        return np.sum(x != 0, **reduce)
    return np.sum(np.abs(x) ** p, **reduce) ** (1 / p)


def euclidean_conventions(make: Make) -> Iterator[Convention]:
    zero = call(make.put([0, 0]))
    yield Convention("0", zero, gradient=[0, 0])
    yield Convention(
        "second derivative at 0",
        zero,
        hessian=np.zeros((2, 2)),
        singular=True,
        departure="PyTorch's is NaN",
    )
    yield Convention("complex 0", call(make.put([0, 0], "complex128")), gradient=[0, 0])


def power_conventions(make: Make) -> Iterator[Convention]:
    for p, at, gradient in [
        (1, [0, -2], [0, -1]),
        (1, [np.nan, -2], [0, -1]),
        (3, [0, 0], [0, 0]),
        (3, [1, np.nan], [np.nan, np.nan]),
        (1.5, [0, 1], [0, 1]),
        (0.5, [0, 1], [0, 1]),
        (-1, [0, 1], [0, 0]),
        (0, [0, 1], [0, 0]),
    ]:
        yield Convention(f"p={p} at {at}", call(make.put(at), p), gradient=gradient)
    lost = call(make.put([1, complex(np.nan, 1)], "complex128"), 3)
    yield Convention("p=3 at a complex NaN", lost, gradient=[np.nan, np.nan])
    infinities = call(make.put([math.inf, -math.inf]), -1)
    yield Convention("infinities alone", infinities, value=math.inf)
    yield Convention(
        "p=4, its fourth power",
        call(make.put([1, 0]), 4),
        through=lambda y: y**4,
        hessian=[12, 0, 0, 0],
    )


def extreme_conventions(make: Make) -> Iterator[Convention]:
    tied = call(make.put([3, -3, 0]), math.inf)
    yield Convention("ties share", tied, gradient=[0.5, -0.5, 0])
    yield Convention("0", call(make.put([0, 0]), math.inf), gradient=[0, 0])
    yield Convention("a least 0", call(make.put([0, 1]), -math.inf), gradient=[0, 0])
    yield Convention(
        "squared, a tie",
        call(make.put([3, -3]), math.inf),
        through=lambda y: y**2,
        hessian=[[0.5, -0.5], [-0.5, 0.5]],
    )


def near_isometry(x, p):
    """The nuclear norm to third order where all singular values are 1."""
    off = x.T @ x - np.eye(x.shape[1])
    squared = off @ off
    return x.shape[1] + off.trace() / 2 - squared.trace() / 8 + (squared @ off).trace() / 16


def nuclear_conventions(make: Make) -> Iterator[Convention]:
    for shape in ((2, 2), (3, 2)):
        yield Convention(
            f"smooth where singular values are alike, {shape}",
            call(make.put(np.eye(*shape)), "nuc"),
            like=near_isometry,
            order=3,
            ulps=100,
            floor=1e-12,
        )
    infinite = make.put([[-np.inf, 0, np.inf], [0, 30, -1.7e308], [0, -1e4, 1e-3]])
    nothing = np.full((3, 3), np.nan)  # LAPACK does not come back from infinities
    yield Convention("infinities", call(infinite, "nuc"), value=np.nan, gradient=nothing)
    identity = call(make.put(np.eye(2)), "nuc")
    yield Convention(
        "singular values that are alike", identity, gradient=np.eye(2), ulps=100, floor=1e-15
    )


HALVES = frozenset({"float16", "bfloat16"})
HALF_MATRICES = (
    Departure(
        "dtype",
        "PyTorch decomposes no matrices of halves",
        answer=r"\1",
        match="dtype=(.*?)\\)",
        dtypes=HALVES,
    ),
    Departure("dtype", "PyTorch decomposes no matrices of halves", answer="*", dtypes=HALVES),
)

OPS = [
    OpInfo(
        functx.norm,
        euclidean_samples,
        reference=np_norm,
        refusals=norm_refusals,
        conventions=euclidean_conventions,
    ),
    OpInfo(
        functx.norm,
        power_samples,
        reference=np_norm,
        variant="powers",
        conventions=power_conventions,
    ),
    OpInfo(
        functx.norm,
        extreme_samples,
        reference=np_norm,
        variant="extremes",
        conventions=extreme_conventions,
    ),
    OpInfo(
        functx.norm,
        nuclear_samples,
        reference=np_norm,
        variant="nuclear",
        conventions=nuclear_conventions,
        departures=HALF_MATRICES,
    ),
]
