from __future__ import annotations

import functools as ft
from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx.nn.functional as F
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call


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


def sampler(rng, n, x, p=0.5):
    return x * (rng.random((n, *np.shape(x))) >= p) / (1 - p)


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
        "integers are refused whatever `p` is",
        call(make(2, dtype="int32"), 0.0),
        "expected inexact arrays",
    )


def line_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 2, 3))
    yield call(make(4, 3), 0.25)
    yield call(make(2, 3), 0.5, False, True)
    yield call(make(2, 3), 1.0)


def image_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 3, 2))
    yield call(make(2, 3), 0.25)
    yield call(make(2, 2, 2), 0.5, False, True)
    yield call(make(2, 2, 2), 0.0)


def volume_samples(make: Make) -> Iterator[Sample]:
    yield call(make(1, 2, 1, 2, 2))
    yield call(make(3, 1, 2, 2), 0.25)
    yield call(make(2, 2, 3), p=0.75)
    yield call(make(2, 2, 1, 2), 0.5, False, True)


def alpha_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), training=True)
    yield call(make(2, 2, 2), 0.25, True, True)
    yield call(make(2, 3))
    yield call(make(2, 3), 1.0, True)


def channel_moments(x, p=0.5, training=True, inplace=False):
    return moments(x, p) if training and p < 1 else (x * (not training), 0 * x)


def channel_sampler(rng, n, x, p=0.5, training=True, inplace=False, *, channels):
    """`channels(x)` is the shape of what is kept or dropped whole."""
    if not training or p == 1:
        return np.broadcast_to(x * (not training), (n, *x.shape))
    return x * (rng.random((n, *channels(x))) >= p) / (1 - p)


def of_lines(x):
    return *x.shape[:-1], 1


def of_images(x):
    return *x.shape[:2], *[1] * (x.ndim - 2)


def of_volumes(x):
    return (len(x), 1, 1, 1) if x.ndim == 4 else of_images(x)


LEAST = -1.7580993408473766


def alpha_moments(x, p=0.5, training=False, inplace=False):
    if not training or p == 1:
        return x * (not training), 0 * x
    a = 1 / np.sqrt((1 - p) * (1 + p * LEAST**2))
    return a * (1 - p) * x, a * np.abs(x - LEAST) * np.sqrt(p * (1 - p))


def alpha_sampler(rng, n, x, p=0.5, training=False, inplace=False, *, channels):
    if not training or p == 1:
        return np.broadcast_to(x * (not training), (n, *x.shape))
    kept = rng.random((n, *channels(x))) >= p
    a = 1 / np.sqrt((1 - p) * (1 + p * LEAST**2))
    return a * (np.where(kept, x, LEAST) - LEAST * p)


def line_refusals(make: Make) -> Iterator[Refusal]:
    yield from channel_refusal_of_p(make)
    yield Refusal(call(make(3)), "`input` must have 2 dimensions, or 3 with a batch, got")


def channel_refusals(make: Make) -> Iterator[Refusal]:
    yield from channel_refusal_of_p(make)
    yield Refusal(call(make(3)), r"`input` must be \[N, C, ...\], got f\d+\[3\]")


def channel_refusal_of_p(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), 1.5), r"`p` must lie in \[0, 1\], got 1.5", ValueError)


def alpha_refusals(make: Make) -> Iterator[Refusal]:
    yield from channel_refusal_of_p(make)
    integers = make(2, 3, dtype="int64")
    yield Refusal(call(integers), "expected floating arrays, got i64", TypeError)


def feature_refusals(make: Make) -> Iterator[Refusal]:
    yield from channel_refusal_of_p(make)
    integers = make(2, 3, dtype="int64")
    needs = r"`training` needs a floating array, got i64\[2,3\]"
    yield Refusal(call(integers, training=True), needs, TypeError)
    yield Refusal(call(make(3), training=True), r"`input` must be \[N, C, ...\], got f\d+\[3\]")


def whole_channels(shape: tuple[int, ...], mapped: int):
    """Channels are kept or dropped whole, and not all alike."""

    def conventions(make: Make) -> Iterator[Convention]:
        x = make.put(np.ones(shape))
        rest = tuple(range(mapped, len(shape)))
        alike = lambda y: jnp.all(y.max(rest) == y.min(rest)) & (y.max() > y.min())
        yield Convention("whole channels", call(x, 0.5, True), holds=alike)
        for dtype in ("float32", "float64"):
            x = make.delicate(32).reshape(32, *[1] * (len(shape) - 1)).astype(dtype)
            unchanged = lambda y, x=x: same(y, x)
            what = f"large, small and NaN without training, {dtype}"
            yield Convention(what, call(x, 0.5, False), holds=unchanged)

    return conventions


def channel_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "shapes are those of the operator, whether it draws or not",
        call(make(1), training=False),
        r"`input` must be \[N, C, \.\.\.\]",
    )


OPS = [
    OpInfo(
        F.dropout,
        samples,
        refusals=refusals,
        moments=moments,
        sampler=sampler,
        dtypes=Accepts.INEXACT.value,
        conventions=dropout_conventions,
        departures=(dropout_departures,),
    ),
    OpInfo(F.dropout, without_draw, reference=np_without_draw, variant="without_draw"),
    *(
        OpInfo(
            operator,
            draws,
            refusals=bad,
            moments=channel_moments,
            sampler=ft.partial(channel_sampler, channels=channels),
            dtypes=Accepts.INEXACT.value,
            conventions=conventions,
            departures=() if operator is F.dropout1d else (channel_departures,),
        )
        for operator, draws, bad, channels, conventions in [
            (F.dropout1d, line_samples, line_refusals, of_lines, whole_channels((4, 8, 3), 2)),
            (
                F.dropout2d,
                image_samples,
                channel_refusals,
                of_images,
                whole_channels((4, 8, 2, 2), 2),
            ),
            (
                F.dropout3d,
                volume_samples,
                channel_refusals,
                of_volumes,
                whole_channels((32, 2, 1, 2), 1),
            ),
        ]
    ),
    OpInfo(
        F.alpha_dropout,
        alpha_samples,
        refusals=alpha_refusals,
        moments=alpha_moments,
        sampler=ft.partial(alpha_sampler, channels=np.shape),
        conventions=whole_channels((32,), 1),
    ),
    OpInfo(
        F.feature_alpha_dropout,
        alpha_samples,
        refusals=feature_refusals,
        moments=alpha_moments,
        sampler=ft.partial(alpha_sampler, channels=of_images),
        dtypes=Accepts.FLOATING.value,
        conventions=whole_channels((4, 8, 3), 2),
    ),
]
