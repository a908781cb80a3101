from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx.nn.functional as F
from functx.testing.make import Make
from functx.testing.opdb.rows import tails_of_losses
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .entropies_in_double import EQUAL_WEIGHTS, np_cross_entropy, np_loss, UNWEIGHTED
from .extremes import smooth_at_extremes


def samples(make: Make) -> Iterator[Sample]:
    weight = lambda: make(3, low=0.5)
    yield call(make(4, 3), make.index(3, 4), weight())
    yield call(make(4, 3), make.index(3, 4), reduction="sum")
    yield call(make(2, 3, 2, 1), make.index(3, 2, 2, 1), weight(), reduction="none")
    yield call(make(4, 3), make.put([0, 1, 1, 2], "int64"), ignore_index=1)
    yield call(make(3), make.index(3))
    yield call(make(3), make.index(3), reduction="none")
    yield call(make(4, 3), make.put([-100, 1, -100, 2], "int64"), weight())
    yield call(make(4, 3), make.index(3, 4), size_average=False)
    yield call(make(4, 3), make.index(3, 4), reduce=False)


def cross_entropy_samples(make: Make) -> Iterator[Sample]:
    yield from samples(make)
    yield call(make(4, 3), make.index(3, 4), make(3, low=0.5), label_smoothing=0.2)
    yield call(make(4, 3, low=-200, high=200), make.index(3, 4), label_smoothing=0.2)


def probability_samples(make: Make) -> Iterator[Sample]:
    chances = lambda *shape: make(*shape, low=0, high=1)
    yield call(make(4, 3), chances(4, 3), make(3, low=0.5))
    yield call(make(2, 3, 2), chances(2, 3, 2), label_smoothing=0.3)
    yield call(make(3), chances(3), reduction="none")
    yield call(make(4, 3), chances(4, 3), reduction="sum")


def refusals(make: Make) -> Iterator[Refusal]:
    there = make.put([0, 1], "int64")
    yield Refusal(call(make(2, 3), there + 2), r"`target` must lie in \[0, 2\].*got 3", IndexError)
    yield Refusal(call(make(3, 3), there), "`target` must have the shape", ValueError)
    yield Refusal(call(make(2, 3), there, make(2)), r"`weight` must be \[3\]")
    yield Refusal(call(make(), there[0]), "at least 1 dimension", ValueError)
    yield Refusal(call(make(2, 3), there, reduction="max"), "`reduction` must be", ValueError)
    for ignored, said in ((0.5, "f64"), (True, "bool")):
        at = call(make(2, 3), there, ignore_index=ignored)
        yield Refusal(at, rf"`ignore_index` must be an integer, got {said}\[\]", TypeError)


def nll_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    yield Refusal(call(make(2, 3), make(2)), "`target` must hold integers, got f32", TypeError)


def cross_entropy_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    yield Refusal(call(make(2, 3), make(2)), "`target` must hold class numbers, or")
    yield Refusal(call(make(2, 3), make(2, 3), ignore_index=0), "`ignore_index` goes with class")
    there = make.put([0, 1], "int64")
    yield Refusal(call(make(2, 3), there, label_smoothing=2.0), "`label_smoothing` must lie in")
    phases = make(2, 3, dtype="complex64")
    yield Refusal(call(make(2, 3), phases), "`target` must hold real probabilities", TypeError)


def all_ignored(make: Make) -> Iterator[Convention]:
    """The mean over nothing is NaN, its gradient 0; forward, nothing by nothing."""
    nothing = call(make.put(np.ones((2, 3))), make.put([-100, -100], "int64"))
    yield Convention(
        "all ignored", nothing, value=np.nan, gradient=np.zeros((2, 3)), modes=("reverse",)
    )


def bytes_for_classes(make: Make) -> Iterator[Convention]:
    """No class is -100, though it wraps to one."""
    log_p, bytes_ = np.zeros((1, 157)), make.put([156], "uint8")
    log_p[0, 156] = -1e3
    at = call(make.put(log_p), bytes_)
    yield Convention("class 156", at, value=1e3)


def nll_conventions(make: Make) -> Iterator[Convention]:
    yield from bytes_for_classes(make)
    yield from all_ignored(make)
    yield from smooth_at_extremes(make, make.put([0, 1], "int64"))
    one = call(make.put(np.ones((2, 3))), make.put([-100, 1], "int64"))
    yield Convention("one ignored", one, value=-1, gradient=[[0, 0, 0], [0, -1, 0]])
    flat = call(make.put([1, 2, 3]), make.put([1], "int64"), reduction="none")
    yield Convention("one class in an array", flat, value=-2)
    refused = "PyTorch's backward refuses the shape that its forward takes"
    yield Convention("its gradient", flat, value=-2, gradient=[0, -1, 0], departure=refused)
    x, weight = make.put([[-1, -2, -3], [-4, -5, -6]]), make.put([1, 1, 0])
    weighed = call(x, make.put([0, 2], "int64"), weight, reduction="sum")
    gradient = [[-1, 0, 0], [0, 0, 0]], [1, 0, 6]
    yield Convention(EQUAL_WEIGHTS, weighed, value=1, gradient=gradient, departure=UNWEIGHTED)
    ignored = call(x, make.put([-100, 1], "int64"), weight, reduction="sum")
    gradient = [[0, 0, 0], [0, -1, 0]], [0, 5, 0]
    yield Convention("one ignored", ignored, value=5, gradient=gradient, departure=UNWEIGHTED)


def cross_entropy_conventions(make: Make) -> Iterator[Convention]:
    yield from all_ignored(make)
    yield from smooth_at_extremes(make, make.put([0, 1], "int64"))
    one = call(make.put(np.ones((2, 3))), make.put([-100, 1], "int64"))
    gradient = [[0, 0, 0], [1 / 3, -2 / 3, 1 / 3]]
    yield Convention("one ignored", one, value=np.log(3), gradient=gradient)
    impossible = call(make.put([[-np.inf] * 3, [1, 1, 1]]), make.put([-100, 1], "int64"))
    departure = "in PyTorch a row of which nothing is asked has a gradient of NaN, 0 times infinity"
    yield Convention(
        "one impossible and ignored",
        impossible,
        value=np.log(3),
        gradient=gradient,
        departure=departure,
    )
    weight, target = make.put([1, 1, 0]), make.put([0, 2], "int64")
    weighed = call(make.put(np.ones((2, 3))), target, weight, reduction="sum")
    gradient = [[-2 / 3, 1 / 3, 1 / 3], [0, 0, 0]], [np.log(3), 0, np.log(3)]
    value = np.log(3)
    yield Convention(EQUAL_WEIGHTS, weighed, value=value, gradient=gradient, departure=UNWEIGHTED)


def probability_conventions(make: Make) -> Iterator[Convention]:
    yield from smooth_at_extremes(make, np.full((2, 3), 1 / 3, "float32"))
    x, t = np.array([[0.5, 0.5, 0.0]]), np.array([[0.25, 0.25, 0.5]])
    weight = np.array([1.0, 1.0, 0.0])
    p = np.exp(x) / np.exp(x).sum()
    gradient = p * (weight * t).sum() - weight * t, -weight * np.log(p), (-t * np.log(p))[0]
    at = call(make.put(x), make.put(t), make.put(weight), reduction="sum")
    yield Convention(EQUAL_WEIGHTS, at, gradient=gradient)


def class_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "classes may have any integer dtype: where 64 bit is off there is no int64",
        call(make(2, 3), make.put([0, 1], "int8")),
        "expected target dtype to be Long",
    )


def smoothing_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "PyTorch smooths by nothing where it should by less than nothing, or by NaN",
        call(make(2, 3), make.put([0, 1], "int64"), label_smoothing=-1.0),
        "`label_smoothing` must lie in",
    )
    target = make.put(np.full((2, 3), 1 / 3), "float64")
    yield Departure(
        "dtype",
        "the loss has the dtype of `input`, as with class numbers",
        call(make(2, 3, dtype="float32"), target, reduction="none"),
        "float64",
    )
    yield Departure(
        "refused",
        "weights have the dtype of `input`, as with class numbers, where PyTorch asks for it too",
        call(make(2, 3), target, make.put([True, False, True], bool)),
        r"expected floating arrays, got (bool|[iu]\d+)\[",
    )


OPS = [
    OpInfo(
        F.nll_loss,
        samples,
        reference=np_loss,
        refusals=nll_refusals,
        tolerances=(SUMS,),
        conventions=nll_conventions,
        departures=(class_departures,),
        gaps=(
            Gap(
                "extremal",
                "a weight's slope is a loss less their mean, whose rounding may be left",
                at="huge in array 0",
            ),
        ),
    ),
    OpInfo(
        F.cross_entropy,
        cross_entropy_samples,
        reference=np_cross_entropy,
        refusals=cross_entropy_refusals,
        tolerances=(SUMS,),
        conventions=cross_entropy_conventions,
        departures=(class_departures,),
        tails=(*tails_of_losses(lambda op, x, k: op(x, jnp.int32(k))),),
    ),
    OpInfo(
        F.cross_entropy,
        probability_samples,
        reference=np_cross_entropy,
        variant="probabilities",
        departures=(smoothing_departures,),
        tolerances=(SUMS,),
        conventions=probability_conventions,
        tails=(*tails_of_losses(lambda op, x, k: op(x, 0 * x + jnp.eye(3, dtype=x.dtype)[k])),),
    ),
]
