from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import EXACT


def shuffle_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 8, 2, 3), 2)
    yield call(make(9, 1, 2), 3)
    yield call(make(2, 1, 4, 1, 2), upscale_factor=2)
    yield call(make(1, 2, 2), 1)
    yield call(make(0, 4, 2, 2), 2)
    yield call(make(2, 0, 2, 2), 2)
    yield call(make(1, 4, 0, 2), 2)


def unshuffle_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 2, 4, 6), 2)
    yield call(make(1, 3, 6), 3)
    yield call(make(2, 1, 1, 2, 4), downscale_factor=2)
    yield call(make(1, 2, 2), 1)
    yield call(make(0, 1, 2, 2), 2)
    yield call(make(2, 0, 2, 2), 2)
    yield call(make(1, 1, 0, 2), 2)


def channel_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 6, 2, 3), 2)
    yield call(make(2, 6, 3), groups=3)
    yield call(make(1, 4, 1, 2, 2), 4)
    yield call(make(1, 3, 2), 1)
    yield call(make(0, 4, 2), 2)
    yield call(make(1, 0, 2), 2)


def refusals(name: str, said: str):
    def refusals(make: Make) -> Iterator[Refusal]:
        x = make(1, 3, 3, 3)
        yield Refusal(call(x[0, 0], 1), r"`input` must have at least 3 dimensions")
        yield Refusal(call(x, 0), rf"`{name}` must be positive, got 0")
        yield Refusal(call(x, -1), rf"`{name}` must be positive, got -1")
        yield Refusal(call(x, 2), said)

    return refusals


def np_pixel_shuffle(x, upscale_factor):
    r, (*batch, channels, height, width) = upscale_factor, x.shape
    out = np.zeros((*batch, channels // r**2, height * r, width * r), x.dtype)
    for i, j in np.ndindex(r, r):
        out[..., i::r, j::r] = x[..., i * r + j :: r * r, :, :]
    return out


def np_pixel_unshuffle(x, downscale_factor):
    r, (*batch, channels, height, width) = downscale_factor, x.shape
    out = np.zeros((*batch, channels * r**2, height // r, width // r), x.dtype)
    for i, j in np.ndindex(r, r):
        out[..., i * r + j :: r * r, :, :] = x[..., i::r, j::r]
    return out


def np_channel_shuffle(x, groups):
    order = np.arange(x.shape[1]).reshape(groups, -1).T.ravel()
    return x[:, order]


def unshuffle_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "shape",
        "PyTorch hands an array without elements back as it is, not in the shape of the result",
        call(make(0, 1, 2, 2), 2),
        r"\b0\b.*PyTorch \(.*\b0\b",
    )


OPS = [
    OpInfo(
        F.pixel_shuffle,
        shuffle_samples,
        reference=np_pixel_shuffle,
        refusals=refusals("upscale_factor", r"channels that 2 \* 2 divides, got 3"),
        tolerances=(EXACT,),
    ),
    OpInfo(
        F.pixel_unshuffle,
        unshuffle_samples,
        reference=np_pixel_unshuffle,
        refusals=refusals("downscale_factor", "height and width that 2 divides"),
        departures=(unshuffle_departures,),
        tolerances=(EXACT,),
    ),
    OpInfo(
        F.channel_shuffle,
        channel_samples,
        reference=np_channel_shuffle,
        refusals=refusals("groups", "channels that 2 groups divide, got 3"),
        tolerances=(EXACT,),
    ),
]
