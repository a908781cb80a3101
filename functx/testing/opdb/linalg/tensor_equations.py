from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.linalg import LinAlgError
from functx.testing.make import Make
from functx.testing.opinfo import OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import FACTORED


def tensorinv_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 3), 1)
    yield call(make.matrix(4, 4).reshape(2, 2, 4))
    yield call(make.matrix(4, 4).reshape(4, 2, 2), 1)
    yield call(make.matrix(4, 4).reshape(2, 1, 2, 4), ind=3)
    yield call(make.matrix(0, 0).reshape(0, 0), 1)


def tensorsolve_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(4, 4).reshape(2, 2, 4), make(2, 2))
    yield call(make.matrix(4, 4).reshape(4, 2, 2), make(4))
    yield call(make.matrix(6, 6).reshape(2, 3, 3, 2), make(2, 3))
    yield call(make.matrix(4, 4).reshape(2, 4, 2).swapaxes(0, 1), make(2, 2), dims=(0,))
    yield call(make.matrix(4, 4).reshape(2, 2, 2, 2), make(2, 2), (1, -2))


def tensorinv_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 2, 3)
    yield Refusal(call(x, 0), "`ind` must be positive, got 0", ValueError)
    yield Refusal(call(make()), r"`A` must have at least ind=2 dimensions, got f\d+\[\]")
    yield Refusal(call(x), r"as many elements in its first 2 dimensions as in the others, got")
    singular = make.put([[1, 2], [2, 4]])
    yield Refusal(call(singular, 1), "invertible, which matrix 0 is not", LinAlgError)


def tensorsolve_refusals(make: Make) -> Iterator[Refusal]:
    x, b = make(2, 2, 4), make(2, 2)
    yield Refusal(call(x, make(2)), "`A` must have the shape of `B` and then one of as many")
    yield Refusal(call(x, b, (0, 0)), r"`dims` must not repeat a dimension, got \(0, 0\)")
    yield Refusal(call(x, b, (3,)), r"`dims` must lie in \[-3, 2\], got 3", IndexError)
    singular = make.put([[1, 2], [2, 4]])
    yield Refusal(call(singular, make(2)), "invertible, which matrix 0 is not", LinAlgError)


def np_tensorinv(A: Any, ind: int = 2) -> Any:
    rows = int(np.prod(A.shape[:ind]))
    return np.linalg.inv(A.reshape(rows, rows)).reshape(*A.shape[ind:], *A.shape[:ind])


def np_tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:
    axes = None if dims is None else tuple(dim % A.ndim for dim in dims)
    return np.linalg.tensorsolve(A, B, axes)


OPS = [
    OpInfo(
        functx.linalg.tensorinv,
        tensorinv_samples,
        np_tensorinv,
        tensorinv_refusals,
        tolerances=(FACTORED,),
    ),
    OpInfo(
        functx.linalg.tensorsolve,
        tensorsolve_samples,
        np_tensorsolve,
        tensorsolve_refusals,
        tolerances=(FACTORED,),
    ),
]
