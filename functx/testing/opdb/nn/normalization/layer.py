from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opdb.nn.extremes import smooth_at_extremes
from functx.testing.opinfo import Convention, Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .standardization import normalized, SQUARES


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
        "sums of slopes with an infinite weight are infinity less infinity, in some order",
        call(make.put([-9.0, 1.0, 2.0], "float64"), [3], make.put([1.0, 2.0, np.inf], "float64")),
        r"layer_norm\(.*\binf\b.*of array 0: nan at",
    )


def rms_norm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (3,), make(3), 0.25)
    yield call(make(2, 2, 3), [2, 3], make(2, 3), eps=0.5)
    yield call(make(2, 3), (3,), eps=1e-3)
    yield call(make(0, 3), (3,), eps=1.0)


def rms_norm_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), [2]), r"must end in normalized_shape=\[2\], got f32\[2,3\]")
    yield Refusal(call(make(2, 3), (3,), make(2)), r"`weight` must be of shape \[3\]")
    wide = make(3, dtype="float64")
    yield Refusal(call(make(2, 3), (3,), wide), r"`weight` must have the dtype", TypeError)
    integers = make(2, 3, dtype="int64")
    yield Refusal(call(integers, (3,)), "expected inexact arrays", TypeError)


def np_rms_norm(x, normalized_shape, weight=None, eps=None):
    axes = tuple(range(-len(normalized_shape), 0))
    out = x / np.sqrt(np.mean(x * x, axes, keepdims=True) + eps)
    return out if weight is None else out * weight


def rms_norm_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, 0.0]), (2,), eps=0.25)
    yield Convention("zeros", at, value=[0, 0], gradient=[2, 2])
    for dtype, eps in (("float32", 2**-23), ("float64", 2**-52), ("bfloat16", 2**-23)):
        x = 2.0**-12 if eps > 1e-9 else 2.0**-26
        want = x / math.sqrt(x * x + eps)
        near = lambda y, want=want: abs(y / want - 1) < 2**-8
        at = call(make.put([x, x], dtype), (2,))
        yield Convention(f"no eps given, {dtype}", at, holds=near)


def weight_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "weights have the dtype of what they weigh, as in `layer_norm`",
        call(make(2, 3), (3,), make.put([1, 0, 2], "uint8")),
        "`weight` must have the dtype of `input`",
    )


OPS = [
    OpInfo(
        F.rms_norm,
        rms_norm_samples,
        reference=np_rms_norm,
        refusals=rms_norm_refusals,
        tolerances=(SUMS,),
        gaps=(SQUARES,),
        conventions=rms_norm_conventions,
        departures=(weight_departures,),
    ),
    OpInfo(
        F.layer_norm,
        layer_norm_samples,
        reference=np_layer_norm,
        refusals=layer_norm_refusals,
        tolerances=(SUMS,),
        gaps=(SQUARES,),
        conventions=layer_norm_conventions,
        departures=(layer_norm_departures,),
    ),
]
