"""Samples of least squares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, FixedSizes, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import FACTORED


def samples(make: Make) -> Iterator[Sample]:
    # Singular values of 1, 1.5 and 2, of which other ones count as zero in each lane.
    yield edge(make.matrix(3, 3), make(3, 1), make(low=0.4, high=1.2, dtype="float32"))
    yield call(make.matrix(3, 2), make(3, 2), 0.01)
    yield call(make.matrix(2, 2, 3), make(2, 2))
    yield call(make.matrix(3, 2), make(3), driver="gelsd")
    yield call(make.matrix(2, 3, 2), make(2, 3), driver="gelss")
    yield call(make.matrix(2, 3, 2), make(1, 3, 2), driver="gelss")
    yield call(make.matrix(1, 3, 2), make(2, 3, 2), driver="gelsy")
    yield call(make.matrix(2, 3), make(2, 1), driver="gelsd")
    yield call(make.matrix(2, 2), make(2, 1), None)
    yield edge(make.matrix(3, 3), make(3, 1), 0.6, driver="gelsd")
    yield edge(make.put([[1, 2], [2, 4], [0, 0]]), make(3, 1))
    yield call(make(0, 2), make(0, 1))
    yield call(make(2, 0), make(2, 1), driver="gelsd")
    yield call(make(0, 3, 2), make(0, 3, 1), driver="gelss")


def full_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 2), make(3, 2), driver="gels")
    yield call(make.matrix(2, 2, 3), make(2, 2), driver="gels")
    yield call(make.matrix(3, 2), make(3), driver="gels")
    yield call(make.matrix(2, 3, 2), make(1, 3, 2), driver="gels")
    yield call(make.matrix(2, 2), make(2, 1), driver="gels")
    yield call(make(0, 3, 2), make(0, 3, 1), driver="gels")


def np_lstsq(A: Any, B: Any, rcond: Any = None, *, driver: Any = None) -> Any:
    vector, (m, n) = B.ndim < A.ndim, A.shape[-2:]
    B = B[..., None] if vector else B
    rcond = (1e-7 if driver != "gels" else 0) * max(m, n) if rcond is None else float(rcond)
    inverse = np.linalg.pinv(A, rcond) if A.size else np.swapaxes(A, -1, -2)
    X = inverse @ B
    values = np.linalg.svd(A, compute_uv=False)
    rank = (values > rcond * values.max(-1, keepdims=True, initial=0)).sum(-1)
    residuals = (np.abs(A @ X - B) ** 2).sum(-2)
    if vector:
        X = X[..., 0]
    nothing = np.zeros(0)
    return (
        X,
        residuals if m > n and driver not in (None, "gelsy") else nothing,
        rank if driver != "gels" else nothing.astype("int64"),
        values if driver in ("gelsd", "gelss") else nothing,
    )


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), make(3)), r"`A` must be \[..., m, n\]")
    message = r"`B` must be \[..., m, k\] or \[..., m\] for \[..., m, n\]"
    for B in (make(2), make(2, 3, 2), make(2, 1), make()):
        yield Refusal(call(make(3, 2), B), message)
    yield Refusal(call(make(2, 3, 2), make(3, 1)), message)
    yield Refusal(call(make(2, 3, 2), make(3, 3, 1)), "shapes do not fit")
    yield Refusal(call(make(3, 2), make(3), driver="qr"), "`driver` must be None or one of 'gels'")
    yield Refusal(call(make(3, 2), make(3), make.put([0.1, 0.2])), "`rcond` must be a number")
    at = call(make(3, 2), make(3), make.put([0.1, 0.2]), driver="gels")
    yield Refusal(at, "`rcond` must be a number")
    yield Refusal(call(make(3, 2), make(3), 1j), "`rcond` must be real")
    wrong = "expected float32, float64, complex64 or complex128 arrays"
    yield Refusal(call(make(3, 2, dtype="int32"), make(3, dtype="int32")), wrong, TypeError)


def conventions(make: Make) -> Iterator[Convention]:
    solution = lambda out: out[0]
    deficient = make.put(np.diag([2.0, 0.0])), make.put([[4.0], [3.0]])
    gradient = [[-1, 1], [0.75, 0]], [[0.5], [0]]
    yield Convention(
        "the derivative is that at constant rank",
        call(*deficient),
        through=solution,
        value=([[2], [0]], None, np.asarray(1), None),
        gradient=gradient,
    )
    small = make.put(np.diag([1, 1e-20])), make.put([1.0, 1.0])
    yield Convention("what counts as zero", call(*small), value=([1, 0], None, np.asarray(1), None))
    at = call(*small, 0.0)
    yield Convention("nothing is too small", at, value=([1, 1e20], None, np.asarray(2), None))
    at = call(make.put(np.eye(3, 2)), make.put([1.0, 2.0, 3.0]))
    what = "singular values that coincide"
    yield Convention(what, at, through=solution, like=by_normal_equations, ulps=100, floor=1e-13)


def by_normal_equations(A, B):
    """The solution, where the rank is full."""
    return (jnp.linalg.inv(A.T @ A) @ (A.T @ B),)


def full_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put(np.eye(2)), make.put([[2.0], [3.0]]), driver="gels")
    gradient = [[-2, -3], [-2, -3]], [[1], [1]]
    first = lambda out: out[0]
    yield Convention("equal elements", at, through=first, gradient=gradient, floor=1e-14)


def shape_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "shape",
        "shapes do not depend on values: PyTorch leaves out the residuals of a batch where one "
        "matrix has not full rank",
        call(make.put(np.ones((3, 2))), make(3, 1), driver="gelsd"),
        r"driver='gels[ds]'.*output 1: .*PyTorch \(0,\)",
    )
    yield Departure(
        "gradient",
        "the rank at which the derivative is taken is that which `rcond` leaves",
        call(make.put(np.diag([9.0, 6.0, 3.0])), make(3, 1), 0.6, driver="gelsd"),
        r"(?:rcond=|\], )(?:\w+\[\])?[-\d.e]+[,)].*of array \d",
    )


SIDES = tuple(
    FixedSizes(
        "A",
        "whether there are residuals, or what is solved, depends on whether m > n",
        dims=(-2, -1),
        given={"driver": driver},
    )
    for driver in ("gels", "gelsd", "gelss")
)

OPS = [
    OpInfo(
        functx.linalg.lstsq,
        samples,
        np_lstsq,
        refusals,
        tolerances=(FACTORED,),
        conventions=conventions,
        departures=(shape_departures,),
        fixed_sizes=SIDES,
        kinked=True,
    ),
    OpInfo(
        functx.linalg.lstsq,
        full_samples,
        np_lstsq,
        variant="full rank",
        tolerances=(FACTORED,),
        conventions=full_conventions,
        fixed_sizes=SIDES,
        gaps=(Gap("limits", "a matrix of ones has not full rank", frozenset({"float64"})),),
    ),
]
