from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opdb.creation.powers import np_powers, powers_at_zero
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call


def vander_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3))
    yield call(make(2, 3), N=4)
    yield call(make(1), N=2)
    yield call(make(2, 1, 2))
    yield call(make(0), N=3)
    yield call(make(0, 2))
    yield call(make(), N=3)


def vander_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make()), "`N` must be at least 2, got 1")
    yield Refusal(call(make(2), N=1), "`N` must be at least 2, got 1")
    yield Refusal(call(make(2, 1)), "`N` must be at least 2, got 1")
    yield Refusal(call(make(2), N=1.5), "`N` must be an int", TypeError)
    yield Refusal(call(make.mask(2)), "expected number", TypeError)


def vander_conventions(make: Make) -> Iterator[Convention]:
    yield from powers_at_zero(lambda x: call(x, N=4), make, "")


def np_vander(x, N=None):
    x = np.atleast_1d(x)
    return np_powers(x, x.shape[-1] if N is None else N)


HALVES = frozenset({"float16", "bfloat16"})

OPS = [
    OpInfo(
        functx.linalg.vander,
        vander_samples,
        reference=np_vander,
        refusals=vander_refusals,
        conventions=vander_conventions,
        departures=(
            Departure(
                "dtype", "PyTorch refuses halves here, and no others", answer="*", dtypes=HALVES
            ),
        ),
    )
]
