"""Samples of losses that are logarithms of probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx.nn.functional as F
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge, held
from functx.testing.tolerances import SUMS

from .reduced import np_reduced, refusals


NAN, INF = np.nan, np.inf


def entropy_samples(make: Make) -> Iterator[Sample]:
    share = lambda *shape: make(*shape, low=0.1, high=0.9)
    yield call(share(2, 3), share(2, 3))
    yield call(share(2, 3), share(2, 3), make.nonzero(3), reduction="sum")
    yield call(share(2, 3), share(2, 3), make.index(3, 2, 1), reduction="none")
    yield call(share(3), share(3), size_average=False)
    yield call(share(3), share(3), reduce=False)
    yield call(share(), share())
    yield edge(make.put([0.0, 1, 0.5, 0, 1]), make.put([0.0, 1, 1, 0.25, 0.5]), reduction="none")


def divergence_samples(make: Make) -> Iterator[Sample]:
    share = lambda *shape: make(*shape, low=0.1, high=0.9)
    yield call(make(2, 3), share(2, 3))
    yield call(make(2, 3), share(3), reduction="sum")
    yield call(make(2, 3), share(2, 3), reduction="none")
    yield call(make(2, 3), share(3), reduction="batchmean")
    yield call(make(), share(), reduction="batchmean")
    yield call(make(3), share(3), size_average=False)
    yield call(make(3), share(3), reduce=False)
    yield call(make(2, 3), make(2, 3), log_target=True)
    yield call(make(2, 3), make(3), None, None, "batchmean", True)


def count_samples(make: Make) -> Iterator[Sample]:
    counts = lambda *shape: make(*shape, low=2, high=9)
    yield call(make(2, 3, low=0, high=2), counts(2, 3))
    yield call(make(2, 3, low=1, high=3), counts(3), log_input=False, reduction="none")
    yield call(make(2, 3, low=1, high=3), counts(2, 3), False, True, reduction="sum")
    yield call(make(4, low=0, high=2), make.put([0, 2, 3, 5]), full=True, reduction="none")
    floating = make.dtype if category(make.dtype) == 2 else "float32"
    eps = make(low=0.25, high=0.5, dtype=floating)
    yield call(make(3, low=1, high=3), counts(3), False, eps=eps)
    yield call(make(3, low=0, high=2), counts(3), size_average=False)
    yield call(make(3, low=0, high=2), counts(3), reduce=False)
    yield call(make(low=0, high=2), counts())


def normal_samples(make: Make) -> Iterator[Sample]:
    var = lambda *shape: make(*shape, low=0.5, high=2)
    yield call(make(2, 3), make(2, 3), var(2, 3))
    yield call(make(2, 3), make(3), var(2), full=True, reduction="none")
    yield call(make(2, 3), make(2, 3), var(2, 1), reduction="sum")
    yield call(make(2, 3), make(2, 3), 1.5, True, 1e-3)
    small = make(2, 3, low=0.05, high=0.2)
    yield held(make(2, 3), make(2, 3), small, eps=make(low=0.25, high=0.5))
    yield call(make(), make(), var(), eps=make(low=0.1, high=0.2))
    eps = make(low=0.25, high=0.5)
    yield edge(make(3), make(3), make.put([0.0, 0.125, 2]), False, eps, "none")


def np_entropy(
    x: Any,
    t: Any,
    weight: Any = 1,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    with np.errstate(divide="ignore"):
        one, other = np.maximum(np.log(x), -100), np.maximum(np.log1p(-x), -100)
    return np_reduced(-(t * one + (1 - t) * other) * weight, reduction, size_average, reduce)


def np_divergence(
    x: Any,
    t: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    loss = np.exp(t) * (t - x) if log_target else t * (np.log(t) - x)
    if reduction == "batchmean":
        return loss.sum() / (x.shape[0] if x.ndim else 1)
    return np_reduced(loss, reduction, size_average, reduce)


def np_counts(
    x: Any,
    t: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: Any = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    x, t = (v.astype(np.result_type(v, "float32")) for v in (x, t))
    loss = np.exp(x) - t * x if log_input else x - t * np.log(x + eps)
    many = np.where(t > 1, t, 2)
    factorial = many * np.log(many) - many + 0.5 * np.log(2 * np.pi * many)
    loss = loss + np.where(t > 1, factorial, 0) if full else loss
    return np_reduced(loss, reduction, size_average, reduce)


def np_normal(
    x: Any, t: Any, var: Any, full: bool = False, eps: Any = 1e-6, reduction: str = "mean"
) -> Any:
    var = np.maximum(var, eps)
    var = var[..., None] if var.ndim and var.shape == x.shape[:-1] else var
    loss = 0.5 * (np.log(var) + (x - t) ** 2 / var) + (0.5 * np.log(2 * np.pi) if full else 0)
    return np_reduced(loss, reduction)


def entropy_refusals(make: Make) -> Iterator[Refusal]:
    share = lambda *shape: make(*shape, low=0.1, high=0.9)
    yield Refusal(call(share(2, 3), share(3)), "`target` must have the shape of", ValueError)
    yield Refusal(call(share(3), share(3), reduction="max"), "`reduction` must be", ValueError)
    for bad in (1.5, -0.5, NAN):
        for at in (call(make.put([bad]), share(1)), call(share(1), make.put([bad]))):
            yield Refusal(at, rf"must lie in \[0, 1\], got {bad}")
    at = call(share(3), share(3), make(2, 3))
    yield Refusal(at, r"`weight` must broadcast to f32\[3\], got f32\[2,3\]")
    at = call(share(3), share(3), make(3, dtype="complex64"))
    yield Refusal(at, "`weight` must hold real numbers, got c64", TypeError)
    at = call(share(3), make(3, dtype="float64", low=0, high=1))
    yield Refusal(at, "same dtype", TypeError)


def divergence_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    integers = make(3, dtype="int64")
    yield Refusal(call(integers, integers), "a floating common dtype", TypeError)


def normal_refusals(make: Make) -> Iterator[Refusal]:
    x, message = make(2, 3), "`var` must be a number or fit the shape of `input`"
    for shape in ((3,), (1, 1), (2, 3, 1)):
        yield Refusal(call(x, x, make(*shape, low=1, high=2)), message, ValueError)
    at = call(x, x, make.put([-1.0, 1]))
    yield Refusal(at, "`var` must not be negative, got -1", ValueError)
    yield Refusal(call(x, x, -2.0), "`var` must not be negative, got -2", ValueError)
    yield Refusal(call(x, x, 1.0, reduction="max"), "`reduction` must be", ValueError)


def entropy_conventions(make: Make) -> Iterator[Convention]:
    x, t = make.put([0.0, 1.0, 0.5]), make.put([0.0, 1.0, 1.0])
    at = call(x, t, reduction="sum")
    yield Convention("certain", at, value=np.log(2))
    missed = call(make.put([0.0, 1.0]), make.put([1.0, 0.0]), reduction="none")
    yield Convention(
        "missed",
        missed,
        value=[100, 100],
        gradient=([-1e12, 1e12], [100, -100]),
        departure="PyTorch's slope in the target is infinite",
    )
    inner = call(make.put(0.25), make.put(0.5))
    bend = 0.5 / 0.0625 + 0.5 / 0.5625
    yield Convention("curvature", inner, hessian=[[bend, -16 / 3], [-16 / 3, 0]])


def divergence_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, 1.0]), make.put([0.5, 1.0]), reduction="sum")
    yield Convention("0 and a hit", at, gradient=([-0.5, -1], [1 - np.log(2), 0]))
    at = call(make.put([0.5]), make.put([0.0]))
    departure = "PyTorch's slope is NaN"
    yield Convention("a slope", at, gradient=([0], [-INF]), departure=departure)
    at = call(make.put([0.5, -1.0]), make.put([0.0, 1.0]), reduction="sum")
    yield Convention("an impossible one", at, value=1, gradient=([0, -1], None))
    at = call(make.put([-INF]), make.put([0.0]))
    departure = "PyTorch multiplies 0 by infinity"
    yield Convention("impossible in both", at, value=0, departure=departure)
    at = call(make.put([-INF, 0.0, -1.0]), make.put([0.5, -1, NAN]), reduction="none")
    yield Convention("impossible, negative, NaN", at, value=[INF, NAN, NAN])
    yield Convention("of nothing", call(make(0, 3), make(0, 3), reduction="batchmean"), value=NAN)


def count_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, 0.0]), make.put([1.0, 3.0]), full=True, reduction="sum")
    gradient = [0, -2], [0, np.log(3) + 0.5 / 3]
    yield Convention("Stirling's from 1 on", at, gradient=gradient)
    at = call(make.put(0.25), make.put(2.0), False, eps=make.put(0.25), reduction="sum")
    untraced = "PyTorch's numbers have no gradient"
    yield Convention("eps", at, gradient=(-3, np.log(2), -4), departure=untraced)
    at = call(make.put([-2.0, 0.0]), make.put([1.0, 0.0]), False, reduction="none")
    yield Convention("no logarithm of a negative rate", at, value=[NAN, 0])


def normal_conventions(make: Make) -> Iterator[Convention]:
    x, t = make.put([1.0, 1.0]), make.put([0.0, 0.0])
    at = call(x, t, make.put([0.125, 2.0]), False, 0.25, "sum")
    gradient = [4, 0.5], [-4, -0.5], [-6, 0.125]
    yield Convention("a variance below eps has the slope at eps", at, gradient=gradient)
    untraced = "PyTorch's numbers have no gradient"
    at = call(make.put(1.0), make.put(0.0), make.put(0.125), False, make.put(0.25), "sum")
    bends = [[4, -4, -16, -16], [-4, 4, 16, 16], [-16, 16, 56, 56], [-16, 16, 56, 56]]
    what = "so has eps"
    yield Convention(what, at, gradient=(4, -4, -6, -6), hessian=bends, departure=untraced)
    at = call(make.put(1.0), make.put(0.0), make.put(0.25), False, make.put(0.25), "sum")
    yield Convention("a tie", at, gradient=(4, -4, -6, 0))
    at = call(x, t, make.put(0.5), reduction="none")
    value = [0.5 * np.log(0.5) + 1] * 2
    yield Convention("one variance for all", at, value=value)


INTEGERS = frozenset(Accepts.INTEGER.value)


def divergence_departures(make: Make) -> Iterator[Departure]:
    whole = make.put([[1, 2, 0]], "uint8")
    yield Departure(
        "accepted",
        "a target of integers is one of numbers",
        call(make(1, 3), whole, log_target=True),
        "Integral inputs not supported",
    )


def normal_departures(make: Make) -> Iterator[Departure]:
    whole = make.put([1, 2, 3], "uint8")
    yield Departure(
        "accepted",
        "variances that are integers are not clamped in place",
        call(whole, whole, whole),
        "result type Float can't be cast to",
    )
    x = make(3, dtype="float64"), make(3, dtype="float64")
    small = make.put([0.1, 0.2, 0.3], "float64")
    yield Departure(
        "gradient",
        "what a variance is clamped to has a derivative; PyTorch clamps without looking",
        call(*x, small, eps=make.put(0.5, "float64")),
        r"eps=f64\[\].*of array 3: .*, PyTorch 0\.0",
    )


OPS = [
    OpInfo(
        F.binary_cross_entropy,
        entropy_samples,
        np_entropy,
        entropy_refusals,
        tolerances=(SUMS,),
        conventions=entropy_conventions,
        kinked=True,
    ),
    OpInfo(
        F.kl_div,
        divergence_samples,
        np_divergence,
        divergence_refusals,
        tolerances=(SUMS,),
        dtypes=Accepts.FLOATING.value,
        conventions=divergence_conventions,
        departures=(divergence_departures,),
        kinked=True,
    ),
    OpInfo(
        F.poisson_nll_loss,
        count_samples,
        np_counts,
        refusals,
        tolerances=(SUMS,),
        dtypes=Accepts.REAL_NUMBER.value,
        conventions=count_conventions,
        departures=(
            Departure(
                "dtype",
                "PyTorch makes float32 of integers before it looks at the halves beside them",
                answer="^",
                match=r"\((?:bool|u8|i64), \*\)",
                dtypes=frozenset({"float16", "bfloat16"}),
            ),
            Departure(
                "dtype",
                "as above, the other way round",
                answer="^",
                match=r"\(\*, b?f16\)",
                dtypes=INTEGERS,
            ),
        ),
        kinked=True,
    ),
    OpInfo(
        F.gaussian_nll_loss,
        normal_samples,
        np_normal,
        normal_refusals,
        tolerances=(SUMS,),
        dtypes=Accepts.FLOATING.value,
        conventions=normal_conventions,
        departures=(
            Departure("refused", "a normal sample is real", answer="-", match="complex"),
            normal_departures,
        ),
        kinked=True,
    ),
]
