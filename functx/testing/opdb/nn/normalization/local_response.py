from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Departure, Gap, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4, 2), 3, alpha=2.0)
    yield call(make(1, 3, 2, 2), 2, 1.5, 0.5, 2.0)
    number = lambda: make(low=0.5, high=2)
    yield call(make(1, 2, 1, 2, 2), 4, number(), number(), number())
    yield call(make(2, 3, 1), 9)
    yield call(make(2, 0, 3), 2, 1)
    yield call(make(0, 3, 2), 1, 2)


def refusals(make: Make) -> Iterator[Refusal]:
    for shape in ((3,), (2, 3)):
        yield Refusal(call(make(*shape), 2), "of 3 dimensions or more, got f32", ValueError)
    yield Refusal(call(make(2, 3, 1), 0), "`size` must be at least 1, got 0")
    yield Refusal(call(make(2, 3, 1, dtype="bool"), 1), "expected .* arrays, got bool", TypeError)


def np_local_response(x, size, alpha=1e-4, beta=0.75, k=1.0):
    total = np.zeros(x.shape)
    for c in range(x.shape[1]):
        around = slice(max(c - size // 2, 0), c + (size - 1) // 2 + 1)
        total[:, c] = (np.asarray(x[:, around], "float64") ** 2).sum(1)
    return x / (k + alpha * total / size) ** beta


def conventions(make: Make) -> Iterator[Convention]:
    zero = call(make.put([[[0.0], [0.0]]]), 2)
    yield Convention("at 0", zero, value=[[[0], [0]]], gradient=[[[1], [1]]])
    numbers = make.put(1.0), make.put(1.0), make.put(1.0)
    nothing = make.put(0.0), make.put(0.0), make.put(0.0)
    at = call(make.put([[[0.0]]]), 1, *nothing)
    what, gradient = "no response to the power of 0", ([[[1]]], 0, 0, 0)
    yield Convention(what, at, value=[[[0]]], gradient=gradient)
    integers = call(make.put([[[1], [2]]], "int32"), 2, 1.0, 1.0)
    departure = "PyTorch rounds the mean of the squares of integers"
    yield Convention("integers", integers, value=[[[1 / 1.5], [2 / 3.5]]], departure=departure)
    gradient = [[[0.0]]], -0.25, -np.log(2) / 2, -0.25
    at = call(make.put([[[1.0]]]), 1, *numbers)
    yield Convention("numbers", at, value=[[[0.5]]], gradient=gradient)


SIGNED = frozenset({"int8", "int16", "int32", "int64"})

OPS = [
    OpInfo(
        F.local_response_norm,
        samples,
        reference=np_local_response,
        refusals=refusals,
        tolerances=(SUMS,),
        gaps=(
            Gap(
                "extremal",
                "the squares of 1e20 are more than float32 holds",
                at="(huge|mixed|all) in",
            ),
        ),
        conventions=conventions,
        departures=(
            Departure("dtype", "PyTorch takes no bytes", answer="f32", dtypes=frozenset({"uint8"})),
            Departure(
                "dtype",
                "PyTorch gives empty arrays as they came",
                answer="f32",
                match=r"int, int\)",
                dtypes=SIGNED,
            ),
        ),
    ),
]
