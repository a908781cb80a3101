"""Samples of the loss of an affine classifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx.nn.functional as F
from functx.testing.make import Make
from functx.testing.opdb.rows import tails_of_losses
from functx.testing.opinfo import Convention, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .entropies_in_double import EQUAL_WEIGHTS, np_cross_entropy, UNWEIGHTED


def samples(make: Make) -> Iterator[Sample]:
    weight = lambda: make(3, low=0.5)
    yield call(make(4, 2), make(3, 2), make.index(3, 4), linear_bias=make(3), weight=weight())
    yield call(make(4, 2), make(3, 2), make.index(3, 4), reduction="sum")
    many = make.index(3, 4, 2)
    yield call(make(4, 2), make(3, 2, 2), many, linear_bias=make(3, 2), reduction="none")
    yield call(make(4, 2), make(3, 2), make.put([0, 1, 1, 2], "int64"), ignore_index=1)
    yield call(make(4, 2), make(3, 2), make.put([0, -100, 1, 2], "int64"), label_smoothing=0.2)
    yield call(make(2), make(3, 2), make.index(3), linear_bias=make(3))
    yield call(make(0, 2), make(3, 2), make.put([], "int64"), reduction="sum")
    yield call(make(4, 0), make(3, 0), make.index(3, 4), reduction="sum")


def probability_samples(make: Make) -> Iterator[Sample]:
    chances = lambda *shape: make(*shape, low=0, high=1)
    weight = make(3, low=0.5)
    yield call(make(4, 2), make(3, 2), chances(4, 3), linear_bias=make(3), weight=weight)
    yield call(make(4, 2), make(3, 1, 2), chances(4, 3, 1), label_smoothing=0.3)
    yield call(make(2), make(3, 2), chances(3), reduction="none", options=None)


def np_linear_cross_entropy(
    x: Any, W: Any, t: Any, linear_bias: Any = None, ignore_index: Any = None, **options: Any
) -> Any:
    options.pop("options", None)
    logits = np.moveaxis(np.tensordot(W, x, (-1, -1)), -1, 0) if x.ndim > 1 else W @ x
    logits = logits if linear_bias is None else logits + linear_bias
    ignored = -100 if ignore_index is None else ignore_index
    return np_cross_entropy(logits, t, ignore_index=ignored, **options)


def refusals(make: Make) -> Iterator[Refusal]:
    x, W, there = make(2, 2), make(3, 2), make.put([0, 1], "int64")
    yield Refusal(call(x, W, there + 2), r"`target` must lie in \[0, 2\].*got 3", IndexError)
    at = call(make(2), W, there[0], ignore_index=7, label_smoothing=2.0)
    yield Refusal(at, "`label_smoothing` must lie in")
    for bad in ((make(2, 3), W), (make(1, 2, 2), W), (x, make(2))):
        yield Refusal(call(*bad, there), r"`input` must be \[N, n\] or \[n\] and `linear_weight`")
    at = call(make(2), make(3, 1, 2), make.put([0], "int64"))
    yield Refusal(at, r"`input` must be \[N, n\] where `linear_weight` is \[C, \*d, n\]")
    yield Refusal(call(x, W, there, linear_bias=make(2)), r"`linear_bias` must be \[3\], got")
    yield Refusal(call(x, W, there, weight=make(2)), r"`weight` must be \[3\]")
    yield Refusal(call(x, W, there[:1]), "`target` must have the shape", ValueError)
    yield Refusal(call(x, W, there[0]), "`target` must have the shape", ValueError)
    yield Refusal(call(x, W, there, reduction="max"), "`reduction` must be", ValueError)
    yield Refusal(call(x, W, make(2, 3), ignore_index=-100), "`ignore_index` goes with class")
    yield Refusal(call(x, W, make(2, 2)), "`target` must hold class numbers, or")
    yield Refusal(call(x, W, there, options=1), "`options` must be None", TypeError)
    at = call(x, W, there, ignore_index=0.5)
    yield Refusal(at, "`ignore_index` must be an integer", TypeError)
    yield Refusal(call(x, make(3, 2, dtype="float64"), there), "same dtype", TypeError)


def conventions(make: Make) -> Iterator[Convention]:
    ignored = make.put([-100, -100], "int64")
    x, W = make.put(np.ones((2, 1))), make.put(np.zeros((3, 1)))
    nothing = call(x, W, ignored)
    none = np.zeros((2, 1)), np.zeros((3, 1))
    yield Convention("all ignored", nothing, value=np.nan, gradient=none, modes=("reverse",))
    one = call(x, W, make.put([-100, 1], "int64"))
    gradient = [[0], [0]], [[1 / 3], [-2 / 3], [1 / 3]]
    yield Convention("one ignored", one, value=np.log(3), gradient=gradient)
    yield alike(make, UNWEIGHTED, make.put([0, 1], "int64"))


def probability_conventions(make: Make) -> Iterator[Convention]:
    yield alike(make, "", make.put([[0.5, 0.5, 0]] * 2), np.full((2, 3), np.log(3)))


def alike(make: Make, departure: str, target: Any, *of_target: Any) -> Convention:
    """Equal elements everywhere, and targets with one half of the first two classes each."""
    x, W = make.put(np.ones((2, 1))), make.put(np.zeros((3, 1)))
    bias, weight = make.put(np.zeros(3)), make.put(np.ones(3))
    at = call(x, W, target, linear_bias=bias, weight=weight, reduction="sum")
    slope = np.asarray([-1, -1, 2]) / 3
    share = np.log(3) * np.asarray([1, 1, 0])
    gradient = np.zeros((2, 1)), slope[:, None], *of_target, slope, share
    value = 2 * np.log(3)
    return Convention(EQUAL_WEIGHTS, at, value=value, gradient=gradient, departure=departure)


OPS = [
    OpInfo(
        F.linear_cross_entropy,
        samples,
        np_linear_cross_entropy,
        refusals,
        tolerances=(SUMS,),
        conventions=conventions,
        tails=(*tails_of_losses(lambda op, x, k: op(x, jnp.eye(3, dtype=x.dtype), jnp.int32(k))),),
    ),
    OpInfo(
        F.linear_cross_entropy,
        probability_samples,
        np_linear_cross_entropy,
        variant="probabilities",
        tolerances=(SUMS,),
        conventions=probability_conventions,
    ),
]
