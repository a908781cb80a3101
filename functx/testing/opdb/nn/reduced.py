"""What losses of two arrays have in common: their reductions, and what they refuse."""

from __future__ import annotations

from collections.abc import Iterator

from functx.testing.make import Make
from functx.testing.opinfo import Refusal
from functx.testing.samples import call


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(4)), "shapes do not fit")
    yield Refusal(call(make(3), make(3), reduction="max"), "`reduction` must be", ValueError)


def np_reduced(loss, reduction, size_average=None, reduce=None, weight=None):
    if weight is not None:
        loss = loss * weight
        return loss.sum() / weight.sum() if reduction == "mean" else loss.sum()
    if reduce is False or reduction == "none":
        return loss
    return loss.sum() if size_average is False or reduction == "sum" else loss.mean()
