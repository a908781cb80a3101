from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx.nn.functional as F
from functx._core import category, real_of, refuse
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .distances_in_double import np_distance
from .hinges import (
    bad_reduction,
    by_options,
    HALVES,
    reductions,
    UNTRACED,
    WHOLE,
    WHOLE_FIRST,
)


FUNCTION = "PyTorch asks for a function"
APART = Departure(
    "dtype",
    "all three promote to complex64, where PyTorch's distance of two of integers has the default "
    "dtype",
    answer="f32",
    match=r"^\(\*, (c64, \*|\*, c64)\)",
    dtypes=WHOLE,
    defaults=frozenset({"float64"}),
)


def triplet_samples(make: Make) -> Iterator[Sample]:
    near, far = (
        (lambda *shape: make(*shape, low=3, high=5)),
        (lambda *shape: make(*shape, low=6, high=9)),
    )
    x = lambda *shape: make(*shape, low=0, high=2)
    real = real_of(make.dtype) if category(make.dtype) >= 2 else "float32"
    yield call(x(2, 3), far(2, 3), near(2, 3))
    yield call(x(2, 3), near(2, 3), far(2, 3), 20)
    yield call(x(2, 3), near(1, 3), far(2, 3), make(low=20, high=30, dtype=real), 1)
    yield call(x(2, 3), far(2, 3), near(2, 3), p=3.0, eps=make(low=0.25, high=0.5, dtype=real))
    yield call(x(2, 3), near(2, 3), far(2, 3), 20, swap=True)
    yield from reductions(make, x(2, 3), far(2, 3), near(2, 3))
    yield call(x(3), far(3), near(3), eps=0)


def by_sizes(x: Any, y: Any) -> Any:
    """A distance that users might write."""
    try:
        return abs(x - y).sum(-1)
    except TypeError as error:
        refuse(f"`distance_function` takes no such shapes: {error}")


def distance_samples(make: Make) -> Iterator[Sample]:
    near, far = make(2, 3, low=3, high=5), make(2, 3, low=6, high=9)
    x = make(2, 3, low=0, high=2)
    yield call(x, far, near)
    if category(make.dtype) == 2:
        known = make(2, low=6, high=9), make(2, low=3, high=5), make(2, low=3, high=5)
        yield call(x, near, far, distance_function=known, swap=True, reduction="none")
        yield call(x, near, far, distance_function=by_sizes, margin=20, swap=True)
        number = make(low=1, high=2)
        yield call(x, far, near, distance_function=by_sizes, margin=number, reduction="none")
    yield call(x, near, far, margin=20, swap=True, reduction="sum")


def np_triplet(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: Any = 1.0,
    p: float = 2,
    eps: Any = 1e-6,
    swap: bool = False,
    **options: Any,
) -> Any:
    near, far = np_distance(anchor, positive, p, eps), np_distance(anchor, negative, p, eps)
    far = np.minimum(far, np_distance(positive, negative, p, eps)) if swap else far
    return by_options(np.maximum(margin + near - far, 0), **options)


def np_distance_triplet(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Any = None,
    margin: Any = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    between = distance_function or (lambda x, y: np_distance(x, y, 2, 1e-6))
    pairs = (anchor, positive), (anchor, negative), (positive, negative)
    known = between if isinstance(between, tuple) else [between(*pair) for pair in pairs]
    far = np.minimum(known[1], known[2]) if swap else known[1]
    return by_options(np.maximum(margin + known[0] - far, 0), reduction)


def triplet_refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    for margin in (0, -1.0):
        message = f"`margin` must be positive, got {margin}"
        yield Refusal(call(x, x, x, margin=margin), message, ValueError)
    for args in ((x, make(3), x), (x, x, make(3)), (make(3), x, x)):
        yield Refusal(call(*args), "arrays must have the same number of dimensions")
    yield from bad_reduction(make, x, x, x)


def distance_refusals(make: Make) -> Iterator[Refusal]:
    yield from triplet_refusals(make)
    x = make(2, 3)
    at = call(x, x, x, distance_function="far")
    yield Refusal(at, "`distance_function`", TypeError)
    whole = lambda x, y: (x - y).astype("int32")
    at = call(x, x, x, distance_function=whole)
    yield Refusal(at, "`distance_function` must give floating arrays, got i32", TypeError)


def triplet_conventions(make: Make) -> Iterator[Convention]:
    x, y, z = make.put([[0.0]]), make.put([[1.0]]), make.put([[2.0]])
    at = call(x, y, z, 1.0, 2, 0)
    yield Convention("at the margin", at, value=0, gradient=([[0]], [[1]], [[-1]]))
    at = call(x, y, make.put([[-1.0]]), 1.0, 2, 0)
    gradient = [[-2]], [[1]], [[1]]
    yield Convention("on two sides", at, value=1, gradient=gradient)
    at = call(make.put([[0.0]]), make.put([[2.0]]), make.put([[1.0]]), 1.0, 2, 0, True)
    gradient = [[-0.5]], [[0.5]], [[0]]
    yield Convention("as far from both", at, value=2, gradient=gradient)
    at = call(x, x, z, 3.0, 2, 0)
    yield Convention("equal vectors", at, value=1, gradient=([[1]], [[0]], [[-1]]), singular=True)
    at = call(make.put(0.0), make.put(2.0), make.put(1.0), make.put(2.0), 2, 0)
    yield Convention("its slope", at, gradient=(0, 1, -1, 1), departure=UNTRACED)
    at = call(make.put(1.0), make.put(3.0), make.put(-5.0), 10, 2, make.put(1.0))
    yield Convention("that of eps", at, gradient=(-2, 1, 1, -2), departure=UNTRACED)


def distance_conventions(make: Make) -> Iterator[Convention]:
    x, y, z = make.put([[0.0]]), make.put([[1.0]]), make.put([[2.0]])
    at = call(x, y, z, distance_function=by_sizes)
    yield Convention("at the margin", at, value=0, gradient=([[0]], [[1]], [[-1]]))
    at = call(make.put([[0.0]]), z, y, distance_function=by_sizes, swap=True)
    gradient = [[-0.5]], [[0.5]], [[0]]
    yield Convention("as far from both", at, value=2, gradient=gradient)
    numbers = make.put(1.0), make.put(2.0), make.put(2.0)
    at = call(x, x, x, distance_function=numbers, margin=make.put(1.0), swap=True)
    flat = [[0]]
    gradient = flat, flat, flat, 1, -0.5, -0.5, 1
    yield Convention("known ones", at, value=0, gradient=gradient, departure=FUNCTION)
    small = make.put(1e-4), make.put(2e-4), make.put(1e-5)
    at = call(x, x, x, distance_function=small, swap=True)
    yield Convention("small ones", at, value=1 + 1e-4 - 1e-5, departure=FUNCTION)
    endless = make.put(1.0), make.put(2.0), make.put(-np.inf)
    at = call(x, x, x, distance_function=endless, swap=True)
    yield Convention("infinite ones", at, value=np.inf, departure=FUNCTION)


OPS = [
    OpInfo(
        F.triplet_margin_loss,
        triplet_samples,
        np_triplet,
        triplet_refusals,
        tolerances=(SUMS,),
        conventions=triplet_conventions,
        departures=(
            Departure("dtype", WHOLE_FIRST, answer="^", match=r"b?f16", dtypes=WHOLE),
            APART,
        ),
        kinked=True,
    ),
    OpInfo(
        F.triplet_margin_with_distance_loss,
        distance_samples,
        np_distance_triplet,
        distance_refusals,
        tolerances=(SUMS,),
        conventions=distance_conventions,
        departures=(
            Departure(
                "dtype", FUNCTION, answer="f32", match=r"c64.*distance_function=\[", dtypes=HALVES
            ),
            Departure("dtype", FUNCTION, answer="*", match=r"c64.*distance_function=\["),
            Departure("dtype", FUNCTION, answer="^", match=r"distance_function=\["),
            Departure("dtype", WHOLE_FIRST, answer="^", match=r"b?f16", dtypes=WHOLE),
            APART,
        ),
        kinked=True,
    ),
]
