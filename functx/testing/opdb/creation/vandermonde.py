from __future__ import annotations

from collections.abc import Iterator

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call

from .powers import np_powers, powers_at_zero


def vander_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3))
    yield call(make(3), 5)
    yield call(make(2), N=4, increasing=True)
    yield call(make(3), 1)
    yield call(make(2), 0)
    yield call(make(0))
    yield call(make(0), 2)


def vander_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2)), "`x` must have 1 dimension")
    yield Refusal(call(make()), "`x` must have 1 dimension")
    yield Refusal(call(make(2), -1), "`N` must not be negative, got -1")
    yield Refusal(call(make(2), 1.5), "`N` must be an int", TypeError)


def np_vander(x, N=None, increasing=False):
    powers = np_powers(x, x.size if N is None else N)
    return powers if increasing else powers[:, ::-1]


def vander_conventions(make: Make) -> Iterator[Convention]:
    yield from powers_at_zero(lambda x: call(x, 4, True), make, "PyTorch has no derivative")


OPS = [
    OpInfo(
        functx.vander,
        vander_samples,
        reference=np_vander,
        refusals=vander_refusals,
        conventions=vander_conventions,
    )
]
