from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx.nn.functional as F
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import call, Convention, Departure, OpInfo, Refusal, Sample


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3))
    yield call(make(3), 0.25)
    yield call(make(2, 0, 3), p=0.5)
    yield call(make(), p=0.2)


def without_draw(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), training=False)
    yield call(make(2, 3), 0.0)
    yield call(make(2, 3), 1.0)
    yield call(make(2, 3), 0.5, False, True)


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3), 1.5), r"`p` must lie in \[0, 1\], got 1.5", ValueError)
    for dtype in ("float32", "complex64"):
        for training in (True, False):
            at = call(make(3, dtype=dtype), 1j, training)
            yield Refusal(at, f"`p` must not be complex for {dtype} arrays", TypeError)


def moments(x, p=0.5):
    return x, np.abs(x) * np.sqrt(p / (1 - p))


def np_without_draw(x, p=0.5, training=True, inplace=False):
    return x * 0 if training and p == 1 else x


def dropout_conventions(make: Make) -> Iterator[Convention]:
    for dtype in ("float32", "float64"):
        x = make.delicate(32).astype(dtype)
        kept_or_zero = lambda y, x=x: same(y, 0 * x) | same(y, 2 * x)
        what = f"an element is doubled or times 0, and keeps its sign, {dtype}"
        yield Convention(what, call(x, 0.5), holds=kept_or_zero)


def same(x, y):
    return ((x == y) & (jnp.signbit(x) == jnp.signbit(y))) | (jnp.isnan(x) & jnp.isnan(y))


def dropout_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        call(make(2, dtype="int32"), 0.0),
        "integers are refused whatever `p` is",
        "expected inexact arrays",
    )


OPS = [
    OpInfo(
        F.dropout,
        samples,
        refusals=refusals,
        moments=moments,
        dtypes=Accepts.INEXACT.value,
        conventions=dropout_conventions,
        departures=dropout_departures,
    ),
    OpInfo(F.dropout, without_draw, reference=np_without_draw, variant="without_draw"),
]
