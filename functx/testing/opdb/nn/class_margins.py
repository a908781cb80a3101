from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx.nn.functional as F
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .hinges import by_options, HALVES, reductions


def multi_samples(make: Make) -> Iterator[Sample]:
    yield call(make(4, 3), make.index(3, 4))
    yield call(make(4, 3), make.index(3, 4), 2, make(low=0.5, high=2), make.nonzero(3))
    yield call(make(2, 3), make.index(3, 2), weight=make.nonzero(3))
    yield call(make(3), make.index(3))
    yield call(make(3), make.index(3, 1), p=2, reduction="none")
    yield call(make(2, 3), make.index(3, 2, dtype="int32"), margin=-0.5)
    yield call(make(), make.put(0, "int64"))
    yield from reductions(make, make(2, 3), make.index(3, 2))
    yield call(make(0, 3), make.index(3, 0), reduction="sum")


def several_samples(make: Make) -> Iterator[Sample]:
    target = make.put([[1, -1, 0], [2, 0, -1]], "int64")
    yield call(make(2, 3), target)
    yield call(make(2, 3), make.put([[1, 1, 2], [-1, 0, 0]], "int64"), reduction="sum")
    yield call(make(4), make.put([3, 0, 0, -1], "int32"))
    yield call(make(), make.put(0, "int64"))
    yield from reductions(make, make(2, 3), target)
    yield call(make(0, 3), make.index(3, 0, 3), reduction="sum")


def multi_refusals(make: Make) -> Iterator[Refusal]:
    x, y = make(2, 3), make.index(3, 2)
    yield Refusal(call(x, make(2)), "`target` must hold integers, got f32", TypeError)
    for wrong in (make(2, 3, 1), make(2, 0)):
        yield Refusal(call(wrong, y), r"`input` must be \[N, C\] or \[C\] with classes")
    for target in (make.index(3), make.index(3, 3), make.index(3, 2, 1)):
        yield Refusal(call(x, target), "`target` must be a class for each of f32")
    for bad in (3, -1):
        at = call(x, make.put([0, bad], "int64"))
        yield Refusal(at, rf"`target` must lie in \[0, 2\], got {bad}", IndexError)
    yield Refusal(call(x, y, 3), "`p` must be 1 or 2, got 3", ValueError)
    yield Refusal(call(x, y, weight=make(2)), r"`weight` must be \[3\]")
    phases = make(3, dtype="complex64")
    yield Refusal(call(x, y, weight=phases), "`weight` must hold real numbers", TypeError)
    yield Refusal(call(x, y, reduction="max"), "`reduction` must be", ValueError)


def several_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(x, make(2, 3)), "`target` must hold integers, got f32", TypeError)
    for wrong in (make(2, 3, 1), make(2, 0)):
        at = call(wrong, make.put(np.zeros(wrong.shape), "int64"))
        yield Refusal(at, r"`input` must be \[N, C\] or \[C\] with classes")
    yield Refusal(call(x, make.index(3, 2)), "`target` must have the shape of f32")
    for bad in (3, -2):
        at = call(x, make.put([[0, 1, 2], [0, bad, 1]], "int64"))
        yield Refusal(at, rf"`target` must lie in \[-1, 2\], got {bad}")
    yield Refusal(call(make(), make.put(2, "int64")), r"`target` must lie in \[-1, 0\]")
    yield Refusal(call(x, make.index(3, 2, 3), reduction="max"), "`reduction` must be", ValueError)


def np_multi(x: Any, y: Any, p=1, margin=1.0, weight=None, **options: Any) -> Any:
    rows, classes = np.atleast_2d(x), np.reshape(y, -1)
    loss = np.zeros(len(classes))
    for i, right in enumerate(classes):
        for j in range(rows.shape[1]):
            if j != right:
                short = max(margin - rows[i, right] + rows[i, j], 0) ** p
                loss[i] += short * (1 if weight is None else weight[right])
    return by_options((loss / rows.shape[1]).reshape(np.shape(y)), **options)


def np_several(x: Any, target: Any, **options: Any) -> Any:
    rows, labels = np.atleast_2d(x), np.atleast_2d(target)
    loss = np.zeros(len(rows))
    for i, (row, right) in enumerate(zip(rows, labels, strict=True)):
        right = right[: [*right, -1].index(-1)]
        wrong = [j for j in range(len(row)) if j not in right]
        loss[i] = sum(max(1 - row[y] + row[j], 0) for y in right for j in wrong) / len(row)
    return by_options(loss.reshape(np.shape(x)[:-1]), **options)


def multi_conventions(make: Make) -> Iterator[Convention]:
    x, y = make.put([[1.0, 0.0, 2.0]]), make.put([0], "int64")
    gradient = [[-1 / 3, 0, 1 / 3]]
    yield Convention("at the margin", call(x, y), value=2 / 3, gradient=gradient)
    tie = call(make.put([[1.0, 1.0]]), y, 2)
    yield Convention("a tie", tie, value=0.5, gradient=[[-1, 1]])
    numbers = make.put(1.0), make.put([1.0, 1.0])
    flat, both = make.put([[0.0, 0.0]]), "PyTorch has no derivative in the margin and the weights"
    gradient = [[-0.5, 0.5]], 0.5, [0.5, 0]
    at = call(flat, y, 1, *numbers)
    yield Convention("equal weights", at, gradient=gradient, departure=both)
    at = call(flat, y, 1, make.put(0.0), numbers[1])
    gradient = [[0, 0]], 0, [0, 0]
    yield Convention("no margin", at, value=0, gradient=gradient, departure=both)
    nan = call(make.put([[np.nan, 1.0]]), y, reduction="none")
    yield Convention("NaN", nan, value=[np.nan], departure="PyTorch's NaN is not above 0")


def several_conventions(make: Make) -> Iterator[Convention]:
    x, target = make.put([1.0, 0.0, 2.0]), make.put([0, -1, 2], "int64")
    gradient = [-1 / 3, 0, 1 / 3]
    yield Convention("at the margin", call(x, target), value=2 / 3, gradient=gradient)
    tie = call(make.put([1.0, 1.0]), make.put([0, 0], "int64"))
    yield Convention("a class named twice", tie, value=1, gradient=[-1, 1])
    none = call(x, make.put([-1, 0, 0], "int64"))
    yield Convention("no right class", none, value=0, gradient=[0, 0, 0])


OPS = [
    OpInfo(
        F.multi_margin_loss,
        multi_samples,
        np_multi,
        multi_refusals,
        tolerances=(SUMS,),
        conventions=multi_conventions,
        departures=(
            Departure(
                "dtype",
                "PyTorch's kernel has no halves",
                answer="*",
                match=r"int, \*\[\]",
                dtypes=HALVES,
            ),
        ),
        kinked=True,
    ),
    OpInfo(
        F.multilabel_margin_loss,
        several_samples,
        np_several,
        several_refusals,
        tolerances=(SUMS,),
        conventions=several_conventions,
        kinked=True,
    ),
]
