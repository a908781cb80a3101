from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import call, Convention, Departure, edge, OpInfo, Refusal, Sample


def expand_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 1), (3, -1, 2))
    yield call(make(3), (2, 3))
    yield call(make(), ())
    yield call(make(), [2, 2])
    yield call(make(1, 3), (0, 3))
    yield call(make(3), -1)
    yield call(make(0, 1), (-1, 2))
    yield call(make.small(1, 2, 1, 2), (3, -1, 2, -1))
    yield edge(make.delicate(8), (2, 8))


def expand_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 3), 3), r"`size` must have at least 2 entries, got \[3\]")
    yield Refusal(call(make(3), (-1, 3)), r"`size` may be -1 only where \S+ has a dimension")
    yield Refusal(call(make(1, 3), (2, 4)), r"\[1,3\] does not broadcast to \[2, 4\]")
    yield Refusal(call(make(1, 3), (-2, 3)), r"\[1,3\] does not broadcast to \[-2, 3\]")
    yield Refusal(call(make(3), None), r"`size` must be an int or a sequence", TypeError)


def np_expand(x, size):
    size = np.atleast_1d(np.asarray(size, int))
    shape = (1,) * (len(size) - x.ndim) + x.shape
    return np.broadcast_to(x, [n if m == -1 else m for m, n in zip(size, shape, strict=True)])


def repeat_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (1, 2))
    yield call(make(2), (3, 2))
    yield call(make(3), 2)
    yield call(make(), ())
    yield call(make(), [2])
    yield call(make(2, 0), repeats=(2, 2))
    yield call(make(2), (0, 1))
    yield call(make(0), (2, -1))
    yield call(make.small(2, 1, 1, 2), (1, 3, 1, 2))
    yield edge(make.delicate(8), 2)


def repeat_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 2), r"`repeats` must have at least 2 entries, got \[2\]")
    yield Refusal(call(make(2), (-1,)), r"`repeats` must not be negative, got \[-1\]")
    yield Refusal(call(make(2), 1.5), r"`repeats` must be an int or a sequence", TypeError)


def repetition(sample: Callable[[Make], Sample], times: int):
    def conventions(make: Make) -> Iterator[Convention]:
        yield Convention("the gradient is the sum", sample(make), gradient=[times, times])

    return conventions


def expand_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        call(make(), (0, -3)),
        "a size is negative, which PyTorch overlooks where another is 0",
        r"does not broadcast to \[.*-",
    )


OPS = [
    OpInfo(
        functx.expand,
        expand_samples,
        reference=np_expand,
        refusals=expand_refusals,
        conventions=repetition(lambda make: call(make.put([1, 2]), (3, 2)), 3),
        ulps=0,
        departures=expand_departures,
    ),
    OpInfo(
        functx.broadcast_to,
        expand_samples,
        reference=np_expand,
        refusals=expand_refusals,
        conventions=repetition(lambda make: call(make.put([1, 2]), (3, 2)), 3),
        ulps=0,
        departures=expand_departures,
    ),
    OpInfo(
        functx.repeat,
        repeat_samples,
        reference=lambda x, repeats: np.tile(x, np.maximum(repeats, 0)),
        refusals=repeat_refusals,
        conventions=repetition(lambda make: call(make.put([1, 2]), (2, 2)), 4),
        ulps=0,
    ),
]
