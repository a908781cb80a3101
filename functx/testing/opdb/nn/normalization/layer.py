from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.floors import SUMS
from functx.testing.opdb.nn.extremes import smooth_at_extremes
from functx.testing.opinfo import call, Convention, Departure, Make, OpInfo, Refusal, Sample

from .standardization import normalized


def layer_norm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (3,), make(3), make(3))
    yield call(make(2, 2, 3), [2, 3], make(2, 3), eps=0.5)
    yield call(make(2, 3), (3,), None, make(3))
    yield call(make(0, 3), (3,))


def layer_norm_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), [2]), r"must end in normalized_shape=\[2\], got f32\[2,3\]")
    yield Refusal(call(make(2, 3), []), r"must end in normalized_shape=\[\]")
    yield Refusal(call(make(2, 3), (3,), make(2)), r"`weight` must be of shape \[3\]")
    yield Refusal(
        call(make(2, 3), (3,), make(3, dtype="float64")), r"`weight` must have the dtype", TypeError
    )


def np_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = tuple(range(-len(normalized_shape), 0))
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return normalized(x, mean, var, weight, bias, normalized_shape, eps)


def layer_norm_conventions(make: Make) -> Iterator[Convention]:
    yield Convention(
        "a constant",
        call(make.put([1.0, 1, 1]), (3,)),
        value=[0, 0, 0],
        through=lambda y: y[1] + 2 * y[2],
        gradient=np.asarray([-1, 0, 1]) / np.sqrt(1e-5),
        ulps=100,
        floor=1e-12,
    )
    yield from smooth_at_extremes(make, [3])


def layer_norm_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        call(make.put([-9.0, 1.0, 2.0], "float64"), [3], make.put([1.0, 2.0, np.inf], "float64")),
        "sums of slopes with an infinite weight are infinity less infinity, in some order",
        r"layer_norm\(.*\binf\b.*of array 0: nan at",
    )


OPS = [
    OpInfo(
        F.layer_norm,
        layer_norm_samples,
        reference=np_layer_norm,
        refusals=layer_norm_refusals,
        floor=SUMS,
        conventions=layer_norm_conventions,
        departures=layer_norm_departures,
    ),
]
