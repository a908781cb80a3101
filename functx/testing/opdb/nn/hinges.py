"""What samples of losses of margins have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import Refusal, Sample
from functx.testing.samples import call

from .reduced import np_reduced


UNTRACED = "PyTorch's numbers have no gradient"
WHOLE_FIRST = "PyTorch makes float32 of integers before it looks at the halves beside them"
WHOLE, HALVES = frozenset(Accepts.INTEGER.value), frozenset({"float16", "bfloat16"})


def reductions(make: Make, *args: Any) -> Iterator[Sample]:
    """The same call under each reduction, and under PyTorch's older names of them."""
    for reduction in ("none", "sum", "mean"):
        yield call(*args, reduction=reduction)
    yield call(*args, size_average=False)
    yield call(*args, reduce=False)


def by_options(
    loss: Any, reduction: str = "mean", size_average: Any = None, reduce: Any = None
) -> Any:
    return np_reduced(loss, reduction, size_average, reduce)


def bad_reduction(make: Make, *args: Any) -> Iterator[Refusal]:
    yield Refusal(call(*args, reduction="max"), "`reduction` must be", ValueError)
