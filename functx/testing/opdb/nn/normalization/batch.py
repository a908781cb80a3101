from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .standardization import normalized, SQUARES


def batch_norm_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3, 2), None, None, make(2), make(2), training=True)
    yield call(make(2, 2, 3), make(2), make(2, low=0.5), make(2), make(2))
    yield call(make(2, 2, 2), make(2), make(2, low=0.5), training=True, momentum=0.3, eps=0.5)
    yield call(make(1, 2), make(2), make(2, low=0.5), None, make(2))
    yield call(make(0, 2), make(2), make(2, low=0.5), training=True)
    yield call(make(2, 3, 0), None, None)


def batch_norm_refusals(make: Make) -> Iterator[Refusal]:
    x, r = make(2, 3), make(3)
    yield Refusal(call(make(3), r, r), r"`input` must be \[N, C, ...\], got f32\[3\]")
    yield Refusal(call(x, None, None), r"`running_mean` must be given")
    for eps in (-1.0, -1e-310):
        at = call(x, r, r, eps=eps)
        yield Refusal(at, f"`eps` must not be negative, got {eps}", ValueError)
    yield Refusal(call(x, r, None, training=True), r"must both be given, or neither", ValueError)
    yield Refusal(call(x, make(2), r), r"`running_mean` must be \[3\]")
    yield Refusal(call(x, r, r, make(2)), r"`weight` must be of shape \[3\]")
    yield Refusal(
        call(make(1, 3), r, r, training=True), r"more than one value per channel", ValueError
    )
    yield Refusal(
        call(x, r, make(3, dtype="float64")), r"`running_var` must have the dtype", TypeError
    )


def np_batch_norm(*args, **kwargs):
    return np_batch_norm_with_stats(*args, **kwargs)[0]


def np_batch_norm_with_stats(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    shape, rest = (-1, *[1] * (x.ndim - 2)), tuple(i for i in range(x.ndim) if i != 1)
    if x.size == 0:
        return x, running_mean, running_var
    mean, var = (x.mean(rest), x.var(rest)) if training else (running_mean, running_var)
    out = normalized(x, mean.reshape(shape), var.reshape(shape), weight, bias, shape, eps)
    if training and running_mean is not None:
        running_mean = (1 - momentum) * running_mean + momentum * mean
        running_var = (1 - momentum) * running_var + momentum * x.var(rest, ddof=1)
    return out, running_mean, running_var


def batch_norm_conventions(make: Make) -> Iterator[Convention]:
    constant = call(make.put([[1.0], [1.0]]), None, None, training=True)
    yield Convention("a constant", constant, value=[[0], [0]], gradient=[[0], [0]])


def stats_conventions(make: Make) -> Iterator[Convention]:
    x, mean, var = make.put([[0.0, 1.0], [2.0, 0.0]]), make.put([0.0, 1.0]), make.put([1.0, 3.0])
    at = call(x, mean, var, eps=1)
    slope, by_var = np.sqrt([0.5, 0.25]), [-0.5 * np.sqrt(0.5), 0.0625]
    gradient = [slope, slope], -2 * slope, by_var
    yield Convention("a mean in the input", at, through=lambda out: out[0], gradient=gradient)


def batch_norm_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "where no variance is 0 nothing has to be added; PyTorch's kernel takes it too",
        call(make(3, 2), None, None, training=True, eps=0),
        "eps must be positive",
    )
    yield Departure(
        "refused",
        "`weight` and `bias` have one dimension, where PyTorch counts their elements",
        call(make(2, 2), make(2), make(2, low=0.5), make(1, 2)),
        "must be of shape",
    )
    empty = make(0)
    yield Departure(
        "accepted",
        "nothing is normalized to nothing, where PyTorch looks for its first channel",
        call(make(0, 0, 0), empty, empty, empty, empty),
        r"index 0 out of range for tensor of size \[0\]",
    )


OPS = [
    OpInfo(
        F.batch_norm,
        batch_norm_samples,
        reference=np_batch_norm,
        refusals=batch_norm_refusals,
        tolerances=(SUMS,),
        gaps=(SQUARES,),
        conventions=batch_norm_conventions,
        departures=(batch_norm_departures,),
    ),
    OpInfo(
        F.batch_norm_with_stats,
        batch_norm_samples,
        reference=np_batch_norm_with_stats,
        refusals=batch_norm_refusals,
        tolerances=(SUMS,),
        gaps=(SQUARES,),
        conventions=stats_conventions,
        departures=(
            Departure(
                "dtype",
                "PyTorch writes the statistics in place and gives the result alone",
                answer="*",
            ),
        ),
    ),
]
