from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

import functx.nn.functional as F
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail
from functx.testing.tolerances import SUMS

from .hinges import (
    bad_reduction,
    by_options,
    HALVES,
    reductions,
    UNTRACED,
    WHOLE,
    WHOLE_FIRST,
)


REAL_NUMBERS = Accepts.REAL_NUMBER.value


def signs(make: Make, *shape: int) -> Any:
    """1 and -1."""
    return make.mask(*shape).astype("int32") * 2 - 1


def hinge_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make.put([[1, -1, -1], [-1, 1, 0]], "int32"))
    yield call(
        make(6, low=-1, high=1), make.put([1, -1, -1, -1, 1, 0], "int32"), make(low=1, high=2)
    )
    yield edge(make(6), make.put([1.0, -1, 0, 1e-4, 1e-5, 2e4]))
    yield edge(make(3), make.put([3e-4, 1e-5, -1e-6]))
    yield call(make(2, 3), make.put([1, -1, 0], "int32"), margin=-0.5)
    yield from reductions(make, make(3), make.put([1, -1, -1], "int32"))
    yield call(make(), make.put(-1, "int32"))


def ranking_samples(make: Make) -> Iterator[Sample]:
    whole = category(make.dtype) == 1
    target = make.put([[1, 2, 1]] if make.dtype.kind == "u" else [[1, -1, 1]])
    yield call(make(2, 3), make(2, 3), target)
    yield call(make(2, 3), make(1, 3), target, 12)
    margin = make(low=5, high=9, dtype="float32" if whole else make.dtype)
    yield call(make(2, 3), make(2, 3), target, margin)
    yield from reductions(make, make(3), make(3), target[0], 5)
    yield call(make(), make(), make.put(1))


def soft_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), signs(make, 2, 3))
    yield call(make(2, 3, low=-90, high=90), make(3))
    yield edge(make(3), make.put([1e-4, 1e-5, 2e4]))
    yield edge(make(3), make.put([3e-4, 1e-5, -1e-6]))
    yield from reductions(make, make(3), signs(make, 3))
    yield call(make(), make())


def classes_samples(make: Make) -> Iterator[Sample]:
    share = lambda *shape: make(*shape, low=0, high=1)
    yield call(make(2, 3), share(2, 3))
    yield call(make(2, 3), share(3), make.nonzero(3))
    yield call(make(4, 2, 3), share(2, 3), weight=make.nonzero(2, 1))
    yield from reductions(make, make(2, 3), share(2, 3))
    yield call(make(3), share(3))


def cosine_samples(make: Make) -> Iterator[Sample]:
    yield call(make(4, 3), make(4, 3), make.put([1, -1, -1, 1], "int32"))
    yield call(make(4, 3), make(1, 3), make.put([1, -1, -1, 0], "int32"), -2)
    yield edge(make(3, 3), make(3, 3), make.put([1.0, -1, 0], "float32"))
    whole = category(make.dtype) == 1
    margin = make(low=-3, high=-2, dtype="float32" if whole else make.dtype)
    yield call(make(4, 3), make(4, 3), make.put([1, -1, -1, 1], "int32"), margin)
    yield from reductions(make, make(2, 3), make(2, 3), make.put([1, -1], "int32"))
    yield call(make(3), make(3), make.put(1, "int32"))


def np_hinge(x: Any, t: Any, margin: Any = 1.0, *_: Any, **options: Any) -> Any:
    loss = np.where(t != 1, np.maximum(margin - x, 0), 0) + np.where(t != -1, x, 0)
    return by_options(loss, **options)


def np_ranking(x: Any, y: Any, t: Any, margin: Any = 0, **options: Any) -> Any:
    x, y, t = (v.astype(np.result_type(v, "float64")) for v in (x, y, t))
    return by_options(np.maximum(margin - t * (x - y), 0), **options)


def np_soft(x: Any, t: Any, **options: Any) -> Any:
    return by_options(np.logaddexp(0, -t * x), **options)


def np_classes(x: Any, t: Any, weight: Any = 1, **options: Any) -> Any:
    loss = t * np.logaddexp(0, -x) + (1 - t) * np.logaddexp(0, x)
    return by_options((loss * weight).mean(-1), **options)


def np_cosine(x: Any, y: Any, t: Any, margin: Any = 0, **options: Any) -> Any:
    x, y = (v.astype(np.result_type(v, "float64")) for v in (x, y))
    squares = [(v * v).sum(-1) + 1e-12 for v in (x, y)]
    cosine = (x * y).sum(-1) / np.sqrt(squares[0] * squares[1])
    loss = np.where(t == 1, 1 - cosine, np.where(t == -1, np.maximum(cosine - margin, 0), 0))
    return by_options(loss, **options)


def hinge_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(4)), "shapes do not fit")
    yield from bad_reduction(make, make(3), make(3))


def ranking_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    for args in ((x, make(3), x), (x, x, make(3)), (make(3), x, x)):
        yield Refusal(call(*args), "arrays must have the same number of dimensions")
    yield Refusal(call(x, x, make(2, 4)), "shapes do not fit")
    yield from bad_reduction(make, x, x, x)


def soft_refusals(make: Make) -> Iterator[Refusal]:
    yield from hinge_refusals(make)
    at = call(make(3), make(3, dtype="complex64"))
    yield Refusal(at, "`target` must hold real numbers, got c64", TypeError)


def classes_refusals(make: Make) -> Iterator[Refusal]:
    yield from hinge_refusals(make)
    yield Refusal(call(make(), make()), "`input` must have a dimension of classes")


def cosine_refusals(make: Make) -> Iterator[Refusal]:
    x, t = make(2, 3), make(2)
    message = r"vectors and targets must be \[n, k\] and \[n\], or \[k\] and \[\]"
    for args in ((x, x, make()), (make(3), make(3), t), (x, make(3), t), (x, x, x)):
        yield Refusal(call(*args), message)
    yield Refusal(call(x, make(2, 4), t), "shapes do not fit")
    yield from bad_reduction(make, x, x, t)


def hinge_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([1.0, 0.0, 0.0]), make.put([-1, -1, 1], "int32"), reduction="sum")
    yield Convention("at the margin", at, value=1, gradient=[-1, -1, 1])
    at = call(make.put([1.0]), make.put([-1], "int32"))
    yield Convention("no curvature at the margin", at, hessian=0)
    at = call(make.put(1.0), make.put(-1, "int32"), make.put(1.0))
    yield Convention("the slope of the margin", at, gradient=(-1, 1), departure=UNTRACED)
    nowhere = call(make.put([np.nan]), make.put([-1], "int32"), reduction="none")
    yield Convention("NaN", nowhere, value=[np.nan])


def ranking_conventions(make: Make) -> Iterator[Convention]:
    x, y, t = make.put([1.0, 0.0]), make.put([1.0, 0.5]), make.put([1.0, 1.0])
    gradient = [-1, -1], [1, 1], [0, 0.5]
    yield Convention("a tie", call(x, y, t, reduction="sum"), gradient=gradient)
    at = call(make.put(1.0), make.put(1.0), make.put(1.0), make.put(0.0))
    yield Convention("its margin", at, gradient=(-1, 1, 0, 1), departure=UNTRACED)
    nowhere = call(make.put([np.nan]), make.put([1.0]), make.put([1.0]), reduction="none")
    yield Convention("NaN", nowhere, value=[np.nan])


def soft_conventions(make: Make) -> Iterator[Convention]:
    x, t = make.put([0.0, -1e3, 1e3]), make.put([1.0, 1.0, 1.0])
    departure = "PyTorch's power overflows"
    at = call(x, t, reduction="none")
    value = [np.log(2), 1e3, -0.0]
    yield Convention("far out", at, value=value, departure=departure)
    untraced = "PyTorch's target has no gradient"
    yield Convention("slopes", call(x[:1], t[:1]), gradient=([-0.5], [0]), departure=untraced)


def classes_conventions(make: Make) -> Iterator[Convention]:
    x, t = make.put([0.0, 1e3, -1e3]), make.put([1.0, 1.0, 0.0])
    at = call(x, t, reduction="sum")
    gradient = [-0.5 / 3, 0, 0], None
    yield Convention("far out", at, value=np.log(2) / 3, gradient=gradient, floor=1e-30)

    x, t = np.array([[0.5, 0.0]]), np.array([[0.5, 1.0]])
    weight = np.array([0.5, 0.5])
    share = 1 / (1 + np.exp(-x))
    loss = (1 - t) * x - np.log(share)
    gradient = weight * (share - t) / 2, -weight * x / 2, loss[0] / 2
    at = call(make.put(x), make.put(t), make.put(weight))
    yield Convention("equal elements", at, gradient=gradient)


def cosine_conventions(make: Make) -> Iterator[Convention]:
    x, t = make.put([[0.0, 0.0], [3.0, 4.0]]), make.put([1, -1], "int32")
    at = call(x, x, t, reduction="none")
    yield Convention("a vector of zeros, and equal ones", at, value=[1, 1], floor=1e-11)
    at = call(make.put([1.0, 0.0]), make.put([0.0, 1.0]), make.put(-1, "int32"))
    yield Convention("at the margin", at, value=0, gradient=([0, 1], [1, 0]), floor=1e-11)
    at = call(make.put([1.0, 0.0]), make.put([0.0, 1.0]), make.put(-1, "int32"), make.put(0.0))
    yield Convention(
        "its slope", at, gradient=([0, 1], [1, 0], -1), departure=UNTRACED, floor=1e-11
    )


def soft_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "`input` and `target` broadcast; in PyTorch only `target` does, by an error of its output",
        call(make(1), make(3)),
        "doesn't match the broadcast shape",
    )
    phases = make(3, dtype="complex64")
    yield Departure(
        "refused", "margins are those of real numbers", call(phases, phases), r"arrays, got c\d+\["
    )


OPS = [
    OpInfo(
        F.hinge_embedding_loss,
        hinge_samples,
        np_hinge,
        hinge_refusals,
        tolerances=(SUMS,),
        conventions=hinge_conventions,
        kinked=True,
    ),
    OpInfo(
        F.margin_ranking_loss,
        ranking_samples,
        np_ranking,
        ranking_refusals,
        tolerances=(SUMS,),
        conventions=ranking_conventions,
        kinked=True,
    ),
    OpInfo(
        F.soft_margin_loss,
        soft_samples,
        np_soft,
        soft_refusals,
        tolerances=(SUMS,),
        conventions=soft_conventions,
        departures=(soft_departures,),
        tails=(Tail(lambda mp, x: mp.log1p(mp.exp(x)), lambda op, x: op(x, jnp.int32(-1))),),
    ),
    OpInfo(
        F.multilabel_soft_margin_loss,
        classes_samples,
        np_classes,
        classes_refusals,
        tolerances=(SUMS,),
        conventions=classes_conventions,
        dtypes=Accepts.FLOATING.value,
        departures=(
            Departure(
                "refused", "probabilities and their weights are real", answer="-", match="complex"
            ),
        ),
        tails=(
            Tail(
                lambda mp, x: mp.log1p(mp.exp(-x)),
                lambda op, x: op(x[None], jnp.ones_like(x)[None]),
                "target 1",
            ),
            Tail(
                lambda mp, x: mp.log1p(mp.exp(x)),
                lambda op, x: op(x[None], jnp.zeros_like(x)[None]),
                "target 0",
            ),
        ),
    ),
    OpInfo(
        F.cosine_embedding_loss,
        cosine_samples,
        np_cosine,
        cosine_refusals,
        tolerances=(SUMS,),
        conventions=cosine_conventions,
        departures=(
            Departure("dtype", WHOLE_FIRST, answer="^", match=r"b?f16", dtypes=WHOLE),
            Departure(
                "dtype",
                WHOLE_FIRST,
                answer="^",
                match=r"\b(?:bool|u8|i64), \*|\*, (?:bool|u8|i64)",
                dtypes=HALVES,
            ),
        ),
        kinked=True,
    ),
]
