from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx._core import Accepts
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tail import Tail
from functx.testing.tolerances import SUMS

from .extremes import smooth_at_extremes
from .reduced import np_reduced, refusals


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


def integer_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(3), reduction="sum")
    yield call(make(2, 3), make(2, 3), reduction="none", weight=make(2, 3))


def smooth_samples(make: Make) -> Iterator[Sample]:
    yield from samples(make)
    yield call(make.distinct(2, 3), make(2, 3, low=0, high=0.4), beta=2.0)
    yield call(make.distinct(2, 3), make(2, 3, low=0, high=0.4), beta=0)


def weighted_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    integers = make(3, dtype="int64")
    yield Refusal(call(integers, integers), "a floating common dtype", TypeError)
    yield Refusal(
        call(make(2, 3), make(2, 3), weight=make(3)), "`weight` must have the shape", ValueError
    )


def absolute_refusals(make: Make) -> Iterator[Refusal]:
    yield from weighted_refusals(make)
    yield Refusal(call(make(3), make.mask(3)), "bools have no difference", TypeError)


def smooth_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    integers = make(3, dtype="int64")
    yield Refusal(call(integers, integers), "a floating common dtype", TypeError)
    for beta in (-1.0, -1e-310):
        at = call(make(3), make(3), beta=beta)
        yield Refusal(at, f"`beta` must not be negative, got {beta}")


def smooth_departures(make: Make) -> Iterator[Departure]:
    pair = make(3, dtype="complex64"), make(3, dtype="complex64")
    yield Departure(
        "refused",
        "what dtypes are taken does not depend on a value: PyTorch's `l1_loss` answers where "
        "`beta` is 0",
        call(*pair, beta=0),
        r"beta=(0|0\.0|False)\b.*expected real arrays, got c",
    )


def huber_samples(make: Make) -> Iterator[Sample]:
    target = lambda *shape: make(*shape, low=0, high=0.4)
    yield call(make.distinct(2, 3), target(2, 3))
    yield call(make.distinct(2, 3), target(3), "sum", make(low=1, high=2))
    yield call(make.distinct(2, 3), target(2, 3), reduction="none", delta=0.5)
    yield call(make.nonzero(), target())
    yield call(make.distinct(2, 3), target(3), weight=make.nonzero(2, 3))
    yield call(make.distinct(3), target(3), "sum", 2, make.index(3, 3, dtype="int32"))


def huber_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    integers = make(3, dtype="int64")
    yield Refusal(call(integers, integers), "a floating common dtype", TypeError)
    for delta in (0, -1.0, np.nan):
        yield Refusal(call(make(3), make(3), delta=delta), f"`delta` must be positive, got {delta}")
    at = call(make(2, 3), make(3), weight=make(3))
    yield Refusal(at, "`weight` must have the shape of `input`", ValueError)


def logits_samples(make: Make) -> Iterator[Sample]:
    target = lambda *shape: make(*shape, low=0, high=1)
    yield call(make(2, 3), target(2, 3), make(3), pos_weight=make(3, low=0.5))
    yield call(make(2, 3), target(2, 3))
    yield call(make(2, 3), target(2, 3), reduction="sum")
    yield call(make(2, 3, low=-90, high=90), target(2, 3), make(2, 1), reduction="none")
    yield call(make(3), target(3), size_average=False)
    yield call(make(3), target(3), reduce=False)
    yield call(make(), target())
    integers = make.index(3, 3, dtype="int32"), make.index(3, 2, 1)
    yield call(make(2, 3), target(2, 3), integers[0], pos_weight=integers[1])


def logits_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(3)), "`target` must have the shape of", ValueError)
    yield Refusal(call(make(3), make(3), reduction="max"), "`reduction` must be", ValueError)
    wide, phases = make(2, 3), make(3, dtype="complex64")
    for name in ("weight", "pos_weight"):
        at = call(make(3), make(3), **{name: wide})
        yield Refusal(at, rf"`{name}` must broadcast to f32\[3\], got f32\[2,3\]")
        at = call(make(3), make(3), **{name: phases})
        yield Refusal(at, f"`{name}` must hold real numbers, got c64", TypeError)
    at = call(make(3), make(3), pos_weight=make.mask(3))
    yield Refusal(at, "`pos_weight` must hold real numbers, got bool", TypeError)


def weight_departures(make: Make) -> Iterator[Departure]:
    x, zero = make.put([np.nan, 1.0], "float64"), make.put([0.0, 0.0], "float64")
    yield Departure(
        "gradient",
        "the derivative at NaN is 0, whatever weight it has, and in PyTorch 0 times the weight",
        call(x, zero, weight=make.put([1.0, np.nan], "float64")),
        r"weight=.*\bnan.*: \(?-?0(\.0|j)?[-+0j)]* at.*PyTorch \(?-?nan",
    )


def logits_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "targets are probabilities, which PyTorch's formula does not ask",
        call(make(3), make(3, dtype="complex64")),
        r"expected floating arrays, got c\d+\[",
    )


def np_mse(x, y, size_average=None, reduce=None, reduction="mean", weight=None):
    return np_reduced((x - y) ** 2, reduction, size_average, reduce, weight)


def np_l1(x, y, size_average=None, reduce=None, reduction="mean", weight=None):
    return np_reduced(np.abs(x - y), reduction, size_average, reduce, weight)


def np_l1_of_integers(x, y, reduction, weight=None):
    loss = np.abs(x - y)
    loss = loss if weight is None else loss * weight
    return loss.sum(dtype="int64") if reduction == "sum" else loss


def np_smooth_l1(x, y, size_average=None, reduce=None, reduction="mean", beta=1.0):
    d = np.abs(x - y)
    loss = np.where(d < beta, d**2 / (2 * beta or 1), d - beta / 2)
    return np_reduced(loss, reduction, size_average, reduce)


def np_huber(x, y, reduction="mean", delta=1.0, weight=1):
    d = np.abs(x - y)
    loss = np.where(d < delta, d**2 / 2, delta * (d - delta / 2))
    return np_reduced(loss * weight, reduction)


def np_logits(x, t, weight=1, size_average=None, reduce=None, reduction="mean", pos_weight=1):
    loss = weight * (pos_weight * t * np.logaddexp(0, -x) + (1 - t) * np.logaddexp(0, x))
    return np_reduced(loss, reduction, size_average, reduce)


def mse_conventions(make: Make) -> Iterator[Convention]:
    yield from smooth_at_extremes(make, np.full((2, 3), 1.0, "float32"))
    zero = make.put(0.0), make.put(0.0)
    yield Convention("a hit", call(*zero), gradient=(0, 0), hessian=[[2, -2], [-2, 2]])
    beside = make.put([0.5, -3.0]), make.put([0, 1], "int32")
    yield Convention("integers beside floats", call(*beside), value=8.125, gradient=[0.5, -4])
    weighted = call(*beside, weight=make.put([1, 3], "int32"))
    yield Convention("weighed by integers", weighted, value=12.0625)
    x, weight = make.put([0.5, 0.5, -3.0]), make.put([1.0, 1.0, 0.0])
    at = call(x, make.put([0.0, 0.0, 0.0]), reduction="sum", weight=weight)
    gradient = [1, 1, 0], [-1, -1, 0], [0.25, 0.25, 9]
    yield Convention("equal weights and none", at, value=0.5, gradient=gradient)


def l1_conventions(make: Make) -> Iterator[Convention]:
    yield from smooth_at_extremes(make, np.full((2, 3), 0.5, "float32"))
    x, y = make.put([0.0, 1.0, -1.0]), make.put([0.0, 0.0, 0.0])
    sample = call(x, y, reduction="sum")
    yield Convention("a hit", sample, gradient=([0, 1, -1], [0, -1, 1]))
    yield Convention("no curvature", sample, hessian=np.zeros((6, 6)))
    nowhere = call(make.put([np.nan, np.inf]), make.put([1.0, np.inf]), reduction="none")
    value, gradient = [np.nan, np.nan], ([0, 0], [0, 0])
    yield Convention("NaN has no slope", nowhere, value=value, gradient=gradient)
    hit, weight = make.put([0.5, -3.0]), make.put([0.5, 1.0])
    weighed = call(hit, make.put([0.0, 0.0]), weight=weight)
    gradient = [1 / 3, -2 / 3], [-1 / 3, 2 / 3], [-10 / 9, 5 / 9]
    yield Convention("a weight as large as the error", weighed, gradient=gradient)
    integers = make.put([1, -3], "int32"), make.put([2, 2], "int32")
    yield Convention("the sum of integers", call(*integers, reduction="sum"), value=6)
    beside = make.put([0.5, -3.0]), make.put([2, 2], "int32")
    yield Convention("integers beside floats", call(*beside), value=3.25, gradient=[-0.5, -0.5])


def smooth_l1_conventions(make: Make) -> Iterator[Convention]:
    x, y = make.put([0.0, 1.0, -1.0]), make.put([0.0, 0.0, 0.0])
    sample = call(x, y, reduction="sum")
    yield Convention("a hit and the corner", sample, gradient=([0, 1, -1], [0, -1, 1]))
    corner = call(make.put(1.0), make.put(0.0))
    yield Convention("no curvature at the corner", corner, hessian=np.zeros((2, 2)))
    sharp = call(x, y, reduction="sum", beta=0)
    yield Convention("beta=0 is the absolute error", sharp, gradient=([0, 1, -1], [0, -1, 1]))
    far = make.put([np.inf, -np.inf, 1.0]), make.put([0.0, 0.0, np.inf])
    gradient = [1, -1, -1], [-1, 1, 1]
    yield Convention("infinite", call(*far, reduction="sum"), gradient=gradient)
    nowhere = call(make.put([np.nan]), make.put([0.0]), reduction="none")
    yield Convention("NaN", nowhere, value=[np.nan], gradient=([np.nan], [np.nan]))
    beside = make.put([0.5, -3.0]), make.put([0, 1], "int32")
    yield Convention("integers beside floats", call(*beside), value=1.8125, gradient=[0.25, -0.5])


def huber_conventions(make: Make) -> Iterator[Convention]:
    x, y = make.put([0.0, 1.0, -1.0]), make.put([0.0, 0.0, 0.0])
    sample = call(x, y, "sum")
    yield Convention("a hit and the corner", sample, gradient=([0, 1, -1], [0, -1, 1]))
    corner = call(make.put(1.0), make.put(0.0))
    yield Convention("no curvature at the corner", corner, hessian=np.zeros((2, 2)))
    untraced = "PyTorch's numbers have no gradient"
    corner = call(make.put(1.0), make.put(0.0), "sum", make.put(1.0))
    yield Convention("delta at the corner", corner, gradient=(1, -1, 0), departure=untraced)
    weighed = call(make.put([1.0, 2.0]), make.put([1.0, 0.0]), "sum", weight=make.put([0.0, 1.0]))
    yield Convention("a weight of 0", weighed, gradient=([0, 1], [0, -1], [0, 1.5]))
    far = call(make.put([np.inf, -np.inf]), make.put([0.0, 1.0]), "sum")
    yield Convention("infinite", far, gradient=([1, -1], [-1, 1]))
    nowhere = call(make.put([np.nan]), make.put([0.0]), "none")
    yield Convention("NaN", nowhere, value=[np.nan], gradient=([np.nan], [np.nan]))


def logits_conventions(make: Make) -> Iterator[Convention]:
    x, t = np.array([0.5, 0.5, -1.0]), np.array([0.5, 0.5, 0.25])
    weight, positive = np.array([2.0, 2.0, 0.0]), np.array([3.0, 3.0, 1.0])
    softplus = np.log1p(np.exp(-x))
    gradient = (
        weight * (1 - t - (1 + (positive - 1) * t) / (1 + np.exp(x))),
        weight * ((positive - 1) * softplus - x),
        (1 - t) * x + (1 + (positive - 1) * t) * softplus,
        weight * t * softplus,
    )
    arrays = map(make.put, (x, t, weight))
    at = call(*arrays, reduction="sum", pos_weight=make.put(positive))
    none = "PyTorch has no derivative in the weights"
    yield Convention("equal elements", at, gradient=gradient, departure=none)
    yield from smooth_at_extremes(make, np.full((2, 3), 0.5, "float32"))
    x, y = make.put([0.0, -100.0, 1e3, -1e3]), make.put([0.0, 0.0, 1.0, 0.0])
    gradient = [0.5, 0, 0, 0], None
    yield Convention("far out", call(x, y, reduction="sum"), gradient=gradient, floor=1e-30)
    zero = make.put(0.0), make.put(0.0)
    yield Convention("curvature at 0", call(*zero), hessian=[[0.25, -1], [-1, 0]])


_ARRAYS_ONLY = "PyTorch takes no numbers here, which promote; an absolute value is real"
_NUMBER = r"\((?:int|float|complex), \*\)|\(\*, (?:int|float|complex)\)"
NUMBERS_IN_L1 = (
    Departure(
        "dtype",
        _ARRAYS_ONLY,
        answer="f32",
        match="complex",
        dtypes=frozenset({"float16", "bfloat16"}),
    ),
    Departure("dtype", _ARRAYS_ONLY, answer="f32", match=_NUMBER, dtypes=frozenset({"complex64"})),
    Departure("dtype", _ARRAYS_ONLY, answer="f64", match=_NUMBER, dtypes=frozenset({"complex128"})),
)
NUMBERS_IN_L1_OF_INTEGERS = (
    Departure(
        "dtype", _ARRAYS_ONLY, answer="i64", match=r"\((?:int, \*|\*, int), reduction='sum'\)"
    ),
    Departure(
        "dtype",
        _ARRAYS_ONLY,
        answer="f32",
        match=r"\((?:(?:float|complex), \*|\*, (?:float|complex)), ",
    ),
)
_COMPLEX_NUMBER = "complex, weight"
NUMBERS_IN_MSE = (
    Departure(
        "dtype", _ARRAYS_ONLY, answer="c128", match=_COMPLEX_NUMBER, dtypes=frozenset({"float64"})
    ),
    Departure("dtype", _ARRAYS_ONLY, answer="c64", match=_COMPLEX_NUMBER),
)

OF_INPUT = "PyTorch's result has the dtype of `input`, however wide `target` is"

OPS = [
    OpInfo(
        F.mse_loss,
        weighted_samples,
        reference=np_mse,
        refusals=weighted_refusals,
        dtypes=Accepts.FLOATING.value,
        tolerances=(SUMS,),
        conventions=mse_conventions,
        departures=NUMBERS_IN_MSE,
    ),
    OpInfo(
        F.l1_loss,
        weighted_samples,
        reference=np_l1,
        refusals=absolute_refusals,
        dtypes=Accepts.INEXACT.value,
        tolerances=(SUMS,),
        conventions=l1_conventions,
        departures=NUMBERS_IN_L1,
    ),
    OpInfo(
        F.l1_loss,
        integer_samples,
        reference=np_l1_of_integers,
        variant="integers",
        departures=(*NUMBERS_IN_L1_OF_INTEGERS, weight_departures),
        dtypes=Accepts.INTEGER.value,
    ),
    OpInfo(
        F.smooth_l1_loss,
        smooth_samples,
        reference=np_smooth_l1,
        refusals=smooth_refusals,
        departures=(smooth_departures,),
        dtypes=Accepts.FLOATING.value,
        tolerances=(SUMS,),
        conventions=smooth_l1_conventions,
        kinked=True,
    ),
    OpInfo(
        F.huber_loss,
        huber_samples,
        reference=np_huber,
        refusals=huber_refusals,
        dtypes=Accepts.FLOATING.value,
        tolerances=(SUMS,),
        conventions=huber_conventions,
        departures=(
            Departure("dtype", OF_INPUT, answer="^", match=r"\(b?f16, \*\)"),
            Departure(
                "dtype",
                OF_INPUT,
                answer="^",
                match=r"\(\*, b?f16\)",
                dtypes=frozenset({"float16", "bfloat16"}),
            ),
            Departure(
                "dtype",
                OF_INPUT,
                answer="^",
                match=r"\(f64\[\], \*\)|\(\*, f64\)",
                dtypes=frozenset({"float16", "bfloat16", "float32"}),
            ),
        ),
        kinked=True,
    ),
    OpInfo(
        F.binary_cross_entropy_with_logits,
        logits_samples,
        reference=np_logits,
        refusals=logits_refusals,
        tolerances=(SUMS,),
        conventions=logits_conventions,
        departures=(
            Departure(
                "dtype",
                "PyTorch multiplies in place into what it made of `target`, in the dtype of that",
                answer="^",
                match=r"(?:bool|u8|i64|f16|bf16|f64|c64)\b",
            ),
            logits_departures,
        ),
        tails=(
            Tail(lambda mp, x: mp.log1p(mp.exp(-x)), lambda op, x: op(x, 0 * x + 1), "target 1"),
            Tail(lambda mp, x: mp.log1p(mp.exp(x)), lambda op, x: op(x, 0 * x), "target 0"),
        ),
    ),
]
