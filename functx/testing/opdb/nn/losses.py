from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.floors import SUMS
from functx.testing.make import Make
from functx.testing.opinfo import call, OpInfo, Refusal, Sample


def samples(make: Make) -> Iterator[Sample]:
    yield call(make.distinct(2, 3), make(2, 3, low=0, high=0.4))
    yield call(make.distinct(2, 3), make(3, low=0, high=0.4), reduction="sum")
    yield call(make.distinct(2, 3), make(2, 3, low=0, high=0.4), reduction="none")
    yield call(make.nonzero(), make(low=0, high=0.4))
    yield call(make.distinct(3), make(3, low=0, high=0.4), size_average=False)
    yield call(make.distinct(3), make(3, low=0, high=0.4), reduce=False)


def weighted_samples(make: Make) -> Iterator[Sample]:
    yield from samples(make)
    yield call(make.distinct(2, 3), make(3, low=0, high=0.4), weight=make.nonzero(2, 3))
    yield call(make.distinct(3), make(3, low=0, high=0.4), None, None, "sum", make.nonzero(3))


def smooth_samples(make: Make) -> Iterator[Sample]:
    yield from samples(make)
    yield call(make.distinct(2, 3), make(2, 3, low=0, high=0.4), beta=2.0)
    yield call(make.distinct(2, 3), make(2, 3, low=0, high=0.4), beta=0)


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(4)), "shapes do not fit")
    yield Refusal(call(make(3), make(3), reduction="max"), "`reduction` must be", ValueError)


def weighted_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    yield Refusal(
        call(make(2, 3), make(2, 3), weight=make(3)), "`weight` must have the shape", ValueError
    )


def smooth_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    yield Refusal(call(make(3), make(3), beta=-1.0), "`beta` must not be negative, got -1.0")


def logits_samples(make: Make) -> Iterator[Sample]:
    target = lambda *shape: make(*shape, low=0, high=1)
    yield call(make(2, 3), target(2, 3), make(3), pos_weight=make(3, low=0.5))
    yield call(make(2, 3), target(2, 3))
    yield call(make(2, 3), target(2, 3), reduction="sum")
    yield call(make(2, 3, low=-90, high=90), target(2, 3), make(2, 1), reduction="none")
    yield call(make(), target())


def logits_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(3)), "`target` must have the shape of", ValueError)
    yield Refusal(call(make(3), make(3), reduction="max"), "`reduction` must be", ValueError)


def np_reduced(loss, reduction, size_average=None, reduce=None, weight=None):
    if weight is not None:
        loss = loss * weight
        return loss.sum() / weight.sum() if reduction == "mean" else loss.sum()
    if reduce is False or reduction == "none":
        return loss
    return loss.sum() if size_average is False or reduction == "sum" else loss.mean()


def np_mse(x, y, size_average=None, reduce=None, reduction="mean", weight=None):
    return np_reduced((x - y) ** 2, reduction, size_average, reduce, weight)


def np_l1(x, y, size_average=None, reduce=None, reduction="mean", weight=None):
    weight = None if weight is None else weight.real
    return np_reduced(np.abs(x - y), reduction, size_average, reduce, weight)


def np_smooth_l1(x, y, size_average=None, reduce=None, reduction="mean", beta=1.0):
    d = np.abs(x - y)
    loss = np.where(d < beta, d**2 / (2 * beta or 1), d - beta / 2)
    return np_reduced(loss, reduction, size_average, reduce)


def np_logits(x, t, weight=1, *, reduction="mean", pos_weight=1):
    loss = weight * (pos_weight * t * np.logaddexp(0, -x) + (1 - t) * np.logaddexp(0, x))
    return np_reduced(loss, reduction)


OPS = [
    OpInfo(F.mse_loss, weighted_samples, reference=np_mse, refusals=weighted_refusals, floor=SUMS),
    OpInfo(F.l1_loss, weighted_samples, reference=np_l1, refusals=weighted_refusals, floor=SUMS),
    OpInfo(
        F.smooth_l1_loss,
        smooth_samples,
        reference=np_smooth_l1,
        refusals=smooth_refusals,
        floor=SUMS,
    ),
    OpInfo(
        F.binary_cross_entropy_with_logits,
        logits_samples,
        reference=np_logits,
        refusals=logits_refusals,
        floor=SUMS,
    ),
]
