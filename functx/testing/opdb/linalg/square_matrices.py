"""Square matrices: samples, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from functx.linalg import LinAlgError
from functx.testing.make import Make
from functx.testing.opinfo import Refusal, Sample
from functx.testing.samples import call


def square_samples(make: Make) -> Iterator[Sample]:
    yield call(make.matrix(3, 3))
    yield call(make.matrix(2, 2, 2))
    yield call(make.matrix(1, 1))
    yield call(make.matrix(0, 0))
    yield call(make.matrix(0, 2, 2))


def square_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3)), r"`A` must be \[..., n, n\], got f\d\d\[3\]")
    yield Refusal(call(make(2, 3)), r"`A` must be \[..., n, n\], got f\d\d\[2,3\]")
    yield Refusal(
        call(make(2, 2, dtype="float16")),
        "expected float32, float64, complex64 or complex128 arrays",
        TypeError,
    )
    yield Refusal(
        call(make(2, 2, dtype="int32")),
        "expected float32, float64, complex64 or complex128 arrays",
        TypeError,
    )


def invertible_refusals(make: Make) -> Iterator[Refusal]:
    """Those, and that `check_errors` refuses a singular matrix."""
    yield from square_refusals(make)
    singular = call(make.put([np.eye(2), [[1, 2], [2, 4]]]), check_errors=True)
    yield Refusal(singular, "invertible, which matrix 1 is not", LinAlgError)
