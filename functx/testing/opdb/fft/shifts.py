"""Samples of the order of frequencies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(5, 4))
    yield call(make(3, 4, 5), (0, -1))
    yield call(make(2, 3), dim=1)
    yield call(make(7, 2), (0, 0))
    yield call(make(3), ())
    yield call(make())
    yield call(make(0, 3))


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 2), r"`dim` must lie in \[-2, 1\], got 2", IndexError)
    yield Refusal(call(make(), 0), "`dim` must be left out for", IndexError)


def rolled(sign):
    def reference(input, dim=None):
        dims = range(input.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
        for k in dims:
            input = np.roll(input, sign * (input.shape[k] // 2), k)
        return input

    return reference


OWN = Departure(
    "dtype",
    "PyTorch refuses to shift along no dimension",
    answer="*",
    match=r"\(\*, \[\]\)|\(\*\[\]\)",
)


def departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "what shifts no dimension changes nothing",
        call(make(3), dim=()),
        "`shifts` required",
    )


OPS = [
    OpInfo(
        functx.fft.fftshift,
        samples,
        rolled(1),
        refusals,
        departures=(OWN, departures),
    ),
    OpInfo(
        functx.fft.ifftshift,
        samples,
        rolled(-1),
        refusals,
        departures=(OWN, departures),
    ),
]
