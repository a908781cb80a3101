from __future__ import annotations

import functools as ft
from collections.abc import Iterator

import numpy as np

import functx.nn.functional as F
from functx.testing.opinfo import Convention, Gap, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import SUMS

from .windows import boxes, inside, positions


INF = np.inf
POWERS = (
    Gap("extremal", "the squares of 1e20 are more than float32 holds", at="(huge|mixed|all) in"),
    Gap(
        "extremal",
        "the squares of 1e-20 are subnormal, which XLA takes for zeros on CPUs",
        at="tiny in",
    ),
)


def line_samples(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(1, 4), 2, 2)
    yield call(abs(make.nonzero(1, 2, 6)), 1.5, 3, 2, True)
    yield call(make.distinct(1, 4), INF, 2)
    yield edge(make(1, 4), 3.0, kernel_size=2)


def plane_samples(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(1, 3, 4), 2, 2)
    yield call(abs(make.nonzero(1, 1, 5, 4)), 3.0, (2, 3), (2, 1), True)
    yield call(abs(make.nonzero(1, 3, 3)), -0.5, 2, stride=1)
    yield call(make.distinct(1, 3, 4), -INF, (2, 1), ceil_mode=True)
    yield edge(make(1, 2, 2), 1, 2)


def volume_samples(make: Make) -> Iterator[Sample]:
    yield call(make.nonzero(1, 2, 3, 2), 2, 2)
    yield call(abs(make.nonzero(1, 1, 3, 2, 4)), 3.0, (2, 2, 1), (2, 1, 3), True)
    yield call(make.distinct(1, 2, 2, 2), INF, 2)


def np_lp_pool(x, norm_type, kernel_size, stride=None, ceil_mode=False, *, n):
    along = positions(x, kernel_size, stride, 0, 1, ceil_mode, n=n)
    whole = np.prod(np.broadcast_to(kernel_size, n))
    out = np.zeros((*x.shape[:-n], *map(len, along)))
    for index, places in boxes(along):
        seen = np.stack([x[(..., *place)] for place in inside(places, x.shape[-n:])]).astype(float)
        if np.isinf(norm_type):
            out[(..., *index)] = np.max(abs(seen), 0) if norm_type > 0 else np.min(abs(seen), 0)
        else:
            total = np.sum(seen**norm_type, 0) * (whole / len(seen))
            with np.errstate(invalid="ignore"):
                out[(..., *index)] = total ** (1 / norm_type)
    return out


def line_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 2), 2, 3), r"the window is larger than the input")


def plane_refusals(make: Make) -> Iterator[Refusal]:
    for p in (0, np.nan):
        at = call(make(1, 2, 2), p, 2)
        yield Refusal(at, f"`norm_type` must not be 0 or NaN, got {p}", ValueError)
    yield Refusal(call(make(2, 2), 2, 2), r"`input` must have 3 dimensions, or 4 with a batch")


def volume_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 2, 2, 2), 2, (2, 2)), r"must be an int or 3 of them", ValueError)


def conventions(make: Make, *, n: int) -> Iterator[Convention]:
    image = lambda *row: make.put(np.reshape(row, (1, *[1] * (n - 1), len(row))))
    kernel = (*[1] * (n - 1), 2) if n > 1 else 2
    answer = lambda *row: np.reshape(row, (1, *[1] * (n - 1), len(row)))
    yield Convention(
        "the gradient at a sum of 0 is 0",
        call(image(0.0, 0.0, 3.0, 4.0), 2, kernel),
        value=answer(0, 5),
        gradient=answer(0, 0, 0.6, 0.8),
    )
    yield Convention("its curvature", call(image(0.0, 0.0), 2, kernel), singular=True)
    flat = call(image(0.0, 0.0, 3.0, 0.0), -np.inf, kernel)
    what = "the gradient at a size of 0 is 0"
    yield Convention(what, flat, value=answer(0, 0), gradient=answer(0, 0, 0, 0))
    nothing = call(image(0.0, 0.0, 3.0, 4.0), 0.5, kernel)
    slopes = 1 + 2 / np.sqrt(3), 1 + np.sqrt(3) / 2
    what, value = "the gradient at a sum of 0 of roots is 0", answer(0, 7 + 4 * np.sqrt(3))
    gradient, nan = answer(0, 0, *slopes), "PyTorch's gradient is 0 times infinity"
    yield Convention(what, nothing, value=value, gradient=gradient, departure=nan)
    for p in (-0.5, -1, -2):
        at = call(image(0.0, 2.0, 0.0, -0.0), p, kernel)
        what = f"the gradient at a norm of 0 is 0, the power being {p}"
        flat = answer(0, 0, 0, 0)
        yield Convention(what, at, value=answer(0, 0), gradient=flat, departure=nan)
    yield Convention(
        "a negative sum has no root",
        call(image(-2.0, 1.0), 3.0, kernel),
        value=answer(np.nan),
    )


OPS = [
    OpInfo(
        operator,
        samples,
        reference=ft.partial(np_lp_pool, n=n),
        refusals=refusals,
        conventions=ft.partial(conventions, n=n),
        tolerances=(SUMS,),
        gaps=POWERS,
        kinked=True,
    )
    for n, operator, samples, refusals in [
        (1, F.lp_pool1d, line_samples, line_refusals),
        (2, F.lp_pool2d, plane_samples, plane_refusals),
        (3, F.lp_pool3d, volume_samples, volume_refusals),
    ]
]
