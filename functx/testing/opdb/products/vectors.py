"""Samples of products of vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .crossing import cross_refusals, np_cross


def inner_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(4, 3))
    yield call(make(3), other=make(3))
    yield call(make(2, 1, 3), make(3))
    yield call(make(2), make(2, 3, 2))
    yield call(make(2, 3), make())
    yield call(make(low=130, high=250), make(2, dtype="int32"))
    yield call(make(), make())
    yield call(make(2, 0), make(3, 0))
    yield call(make(0, 2), make(2))


def inner_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 3), make(2)), "must have the same length")
    yield Refusal(call(make(2), make(2, dtype="float16")), "the same dtype", TypeError)
    yield Refusal(call(make(2), 2.0), "`other` must be an array, got 2.0", TypeError)
    yield Refusal(call(make.mask(2), make.mask(2)), "expected number", TypeError)


def np_inner(input: Any, other: Any) -> Any:
    return np.inner(input, other)


def inner_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "bools are no numbers to sum, and are refused beside a 0-d array too",
        call(make.mask(), make.mask(2)),
        "expected number",
    )


def vdot_samples(make: Make) -> Iterator[Sample]:
    yield call(make(3), make(3))
    yield call(make(1), other=make(1))
    yield call(make(0), make(0))
    yield call(make.small(4), make.small(4))


def vdot_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2, 2), make(2)), "`input` must have 1 dimension")
    yield Refusal(call(make(2), make()), "`other` must have 1 dimension")
    yield Refusal(call(make(2), make(3)), "`other` must have 2 elements")
    yield Refusal(call(make(2), make(2, dtype="float16")), "same dtype", TypeError)


def vdot_conventions(make: Make) -> Iterator[Convention]:
    z = make.put([1 + 2j, 3j], "complex128")
    yield Convention("the first is conjugated", call(z, 1j * z), value=14j)


def cross_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 3))
    yield call(make(3, 3), make(3, 3))
    yield call(make(2, 3), make(1, 3), -1)
    yield call(make(3, 1, 2), other=make(3, 2, 1), dim=0)
    yield call(make(3), make(3))
    yield call(make(3, 0), make(3, 0), -2)
    yield call(make(1, 2, 1, 3), make(2, 1, 1, 3))


def first_refusals(make: Make) -> Iterator[Refusal]:
    yield from cross_refusals(make)
    yield Refusal(call(make(2, 2), make(2, 2)), "must have a dimension of length 3")
    yield Refusal(call(make(), make()), "must have a dimension of length 3")
    yield Refusal(call(make(3, 2), make(3, 2), 1), "dimension 1 of `input` and `other`")
    yield Refusal(call(make(3), make(3), 1), r"`dim` must lie in \[-1, 0\], got 1", IndexError)


def np_first_cross(input: Any, other: Any, dim: int | None = None) -> Any:
    return np_cross(input, other, input.shape.index(3) if dim is None else dim)


OPS = [
    OpInfo(
        functx.inner,
        inner_samples,
        reference=np_inner,
        refusals=inner_refusals,
        tolerances=(SUMS,),
        departures=(inner_departures,),
    ),
    OpInfo(
        functx.vdot,
        vdot_samples,
        reference=lambda input, other: np.vdot(input, other),
        refusals=vdot_refusals,
        tolerances=(SUMS,),
        conventions=vdot_conventions,
    ),
    OpInfo(
        functx.cross,
        cross_samples,
        reference=np_first_cross,
        refusals=first_refusals,
        tolerances=(SUMS,),
    ),
]
