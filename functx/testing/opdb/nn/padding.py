from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
import functx.nn.functional as F
from functx._core import category
from functx.testing.opinfo import Departure, Make, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import EXACT


NUMBERS = tuple(name for name in F.pad.spec.accepts.value if name != "bool")


def constant_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (1, 2))
    yield call(make(2, 3), (-1, 1, 1, -1), "constant", 2.0)
    yield call(make(2, 2, 2), [0, 1, 1, 0, 2, 0], value=1)
    yield call(make(), ())
    yield call(make(2, 0), (1, 1))
    yield call(make(3), (-1, -2))
    yield call(make(3), (1, 2), value=True)
    if category(make.dtype) < 2:
        yield call(make(3), (1, 2), value=1.75)


def constant_refusals(make: Make) -> Iterator[Refusal]:
    x = make(1, 2, 3)
    yield Refusal(call(x, (1,)), r"`pad` must hold two ints for each dimension")
    yield Refusal(call(make(3), (1, 1, 1, 1)), r"at most 2 ints for f32\[3\]")
    yield Refusal(call(make(3), (-1, -3)), r"takes more than there is")
    yield Refusal(call(make(3), (-4, 2)), r"takes more than there is in dimension 0")
    yield Refusal(call(x, (1, 1), "zeros"), r"`mode` must be 'constant'", ValueError)
    yield Refusal(call(x, (1, 1), value=1j), r"`value` must not be complex", TypeError)
    bytes_ = make(3, dtype="uint8")
    for value in (300, -1, -0.5):
        yield Refusal(call(bytes_, (1, 1), value=value), rf"`value` must fit uint8, got {value}")
    yield Refusal(call(x, (1, 1), value=make(2)), "`value` must be a number", TypeError)


def number_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (1, 2))
    yield call(make(2, 3), (-1, 1, 1, -1), 2)
    yield call(make(2, 2, 2), [0, 1, 1, 0, 2, 0], value=1)
    yield call(make(2, 2), (1, 0), make())
    yield call(make(), ())
    yield call(make(2, 0), (1, 1))
    yield call(make(3), (-1, -2), 1000)
    yield call(make(3), (1, 2), True)
    yield call(make.small(2, 1, 1, 2), (0, 1, 1, 0))


def number_refusals(make: Make) -> Iterator[Refusal]:
    x = make(1, 2, 3, dtype="float32")
    yield Refusal(call(x, (1,)), r"`pad` must hold two ints for each dimension")
    yield Refusal(call(make(3), (1, 1, 1, 1)), r"at most 2 ints for \S+\[3\]")
    yield Refusal(call(make(3), (-1, -3)), r"takes more than there is")
    yield Refusal(call(x, (1, 1), 1j), r"`value` must be real for f32\[1,2,3\]")
    yield Refusal(call(make(3, dtype="uint8"), (1, 1), 300), r"`value` must fit uint8, got 300")
    yield Refusal(call(x, (1, 1), make(2)), "`value` must be a number", TypeError)


def np_number_pad(x, pad, value=0):
    pairs = [(0, 0)] * (x.ndim - len(pad) // 2)
    pairs += list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, pairs, strict=True))
    grown = [(max(a, 0), max(b, 0)) for a, b in pairs]
    filling = np.asarray(value).astype(x.dtype)  # which may not fit where nothing is filled
    return np.pad(x[cut], grown, constant_values=filling) if x.ndim else x


def reflect_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (2, 1), "reflect")
    yield call(make(1, 3, 4), (1, 2, -1, 1), mode="reflect")
    yield call(make(1, 2, 2, 2), (1, 0, 0, 1, 1, 1), "reflect")
    yield call(make(0, 2, 3), (1, 1), "reflect")
    yield call(make(2, 3), (1, 1), "reflect", value=False)


def replicate_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (2, 4), "replicate")
    yield call(make(1, 3, 4), (-4, 2, 1, -1), mode="replicate")
    yield call(make(1, 2, 2, 2), (1, 0, 0, 1, 1, 1), "replicate")


def circular_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), (2, 3), "circular")
    yield call(make(1, 3, 4), (-2, 4, 1, -1), mode="circular")
    yield call(make(1, 2, 2, 2), (1, 0, 0, 1, 1, 1), "circular")
    yield call(make(1, 2, 3), (-1, -2), "circular")


def reflect_refusals(make: Make) -> Iterator[Refusal]:
    x = make(1, 2, 3)
    yield Refusal(call(x, (3, 0), "reflect"), r"`pad` must be at most 2 in dimension 2")
    yield Refusal(call(x, (-1, -2), "reflect"), r"takes more than there is in dimension 2")
    yield Refusal(call(make(3), (1, 1), "reflect"), r"of n \+ 1 or n \+ 2 dimensions")
    yield Refusal(call(make(1, 0, 3), (1, 1), "reflect"), r"must not be empty")
    yield Refusal(call(x, (1, 1), "reflect", 1.0), r"belongs to mode='constant'", ValueError)
    yield Refusal(call(x, (1, 1), "reflect", True), r"belongs to mode='constant'", ValueError)
    yield Refusal(call(x, (1, 1), "reflect", make(2)), "`value` must be a number", TypeError)
    yield Refusal(call(make.mask(1, 3), (1, 1), "reflect"), r"takes numbers", TypeError)


def circular_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(1, 2, 3), (4, 0), "circular"), r"at most 3 in dimension 2")
    yield Refusal(call(make(1, 2, 3), (-1, -3), "circular"), r"takes more than there is")
    yield Refusal(call(make(1, 2, 3), (-3, 1), "circular"), r"takes more than there is")


def np_pad(x, pad, mode="constant", value=None):
    names: dict[str, Any] = {"replicate": "edge", "circular": "wrap"}
    for i, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        axis = x.ndim - 1 - i
        crop = [slice(None)] * x.ndim
        crop[axis] = slice(max(-before, 0), x.shape[axis] - max(-after, 0))
        grow = [(0, 0)] * x.ndim
        grow[axis] = (max(before, 0), max(after, 0))
        if mode in ("constant", "circular"):
            x = x[tuple(crop)]
            crop = [slice(None)] * x.ndim
        fill: dict[str, Any] = {"constant_values": value or 0} if mode == "constant" else {}
        grown = np.pad(x, grow, names.get(mode, mode), **fill) if any(grow[axis]) else x
        if mode in ("reflect", "replicate"):
            crop[axis] = slice(max(-before, 0), grown.shape[axis] - max(-after, 0))
        x = grown[tuple(crop)]
    return x


def circular_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "PyTorch copies in place where sizes are negative, and counts some elements once",
        call(make(1, 3, 4, dtype="float64"), (-2, 4, 1, -1), "circular"),
        r"\([\d, ]*-\d[^)]*\), (mode=)?'circular'",
    )
    yield Departure(
        "refused",
        "PyTorch copies from memory that holds nothing, where nothing is left to go around",
        call(make(1, 3, dtype="float32"), (-3, 1), "circular"),
        "takes more than there is",
    )


def nothing_departures(mode: str):
    def departures(make: Make) -> Iterator[Departure]:
        yield Departure(
            "refused",
            "PyTorch overlooks that nothing is left in one of several dimensions",
            call(make(1, 2, 2, dtype="float32"), (1, 0, -1, -1), mode),
            "takes more than there is",
        )

    return departures


OPS = [
    OpInfo(
        F.pad,
        constant_samples,
        reference=np_pad,
        refusals=constant_refusals,
    ),
    OpInfo(
        F.pad,
        reflect_samples,
        reference=np_pad,
        refusals=reflect_refusals,
        variant="reflect",
        dtypes=NUMBERS,
        departures=(nothing_departures("reflect"),),
    ),
    OpInfo(
        F.pad,
        replicate_samples,
        reference=np_pad,
        variant="replicate",
        dtypes=NUMBERS,
        departures=(nothing_departures("replicate"),),
    ),
    OpInfo(
        F.pad,
        circular_samples,
        reference=np_pad,
        refusals=circular_refusals,
        variant="circular",
        departures=(circular_departures,),
    ),
    OpInfo(
        functx.constant_pad_nd,
        number_samples,
        reference=np_number_pad,
        refusals=number_refusals,
        tolerances=(EXACT,),
    ),
]
