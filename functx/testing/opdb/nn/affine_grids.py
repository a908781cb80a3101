from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
import functx.nn.functional as F
from functx.testing.opinfo import Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 2, 3), (2, 1, 3, 4), False)
    yield call(make(1, 2, 3), [1, 3, 2, 3], align_corners=True)
    yield call(make(2, 3, 4), (2, 1, 2, 3, 4), False)
    yield call(make(1, 3, 4), (1, 1, 2, 1, 3), True)
    yield call(make(1, 2, 3), (1, 1, 1, 2), False)


def grid_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 3), (1, 2, 2, 2))
    yield from samples(make)
    yield call(make(0, 2, 3), (0, 1, 1, 1), align_corners=True)


def generator_samples(make: Make) -> Iterator[Sample]:
    yield from samples(make)
    yield call(make(1, 2, 3), (1, 1, 0, 2), True)
    yield call(make(1, 3, 4), (1, 0, 2, 0, 2), False)
    yield call(make(0, 2, 3), (0, 1, 2, 2), True)


def grid_refusals(make: Make) -> Iterator[Refusal]:
    theta = make(1, 2, 3, dtype="float32")
    yield Refusal(call(theta, (1, 1, 2)), r"`size` must be \(N, C, H, W\)", ValueError)
    yield Refusal(
        call(theta, (1, 1, 2, 2, 2)), r"must be \[N, 3, 4\].* got f32\[1,2,3\]", ValueError
    )
    yield Refusal(call(theta[0], (1, 1, 2, 2)), r"must be \[N, 2, 3\]", ValueError)
    yield Refusal(call(theta, (1, 1, 0, 2)), r"`size` must be positive", ValueError)
    yield Refusal(call(theta, (1, 0, 2, 2), True), r"`size` must be positive", ValueError)
    yield Refusal(call(theta, (2, 1, 2, 2)), r"`theta` must hold 2 maps")
    yield Refusal(call(make(1, 2, 3, dtype="int64"), (1, 1, 2, 2)), "floating", TypeError)


def generator_refusals(make: Make) -> Iterator[Refusal]:
    theta = make(1, 2, 3, dtype="float32")
    yield Refusal(call(theta, (1, 1, 2), True), r"`size` must be \(N, C, H, W\)")
    yield Refusal(call(theta, (1, 1, 2, 2, 2), True), r"must be \[N, 3, 4\]")
    yield Refusal(call(theta, (1, 1, -1, 2), True), r"`size` must not be negative")
    yield Refusal(call(theta, (2, 1, 2, 2), True), r"`theta` must hold 2 maps")


def np_affine_grid(theta, size, align_corners=None):
    sizes = size[2:]
    places = []
    for n in sizes:
        step = 2 / max(n - 1, 1) if align_corners else 2 / max(n, 1)
        places.append((np.arange(n) - (n - 1) / 2) * step)
    axes = np.meshgrid(*places, indexing="ij")
    points = np.stack([*axes[::-1], np.ones(sizes)], -1)
    with np.errstate(invalid="ignore", over="ignore"):
        terms = points[..., None, :] * theta.reshape(-1, *[1] * len(sizes), *theta.shape[1:])
        return terms.sum(-1).astype(theta.dtype)


def generator_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "PyTorch rounds the grid of integers to integers, which name no places; a grid that is "
        "not real names none either",
        call(make(1, 2, 3, dtype="int32"), (1, 1, 2, 2), False),
        r"expected (a )?floating|floating",
    )


OPS = [
    OpInfo(
        F.affine_grid,
        grid_samples,
        reference=np_affine_grid,
        refusals=grid_refusals,
        tolerances=(SUMS,),
    ),
    OpInfo(
        functx.affine_grid_generator,
        generator_samples,
        reference=np_affine_grid,
        refusals=generator_refusals,
        tolerances=(SUMS,),
        departures=(generator_departures,),
    ),
]
