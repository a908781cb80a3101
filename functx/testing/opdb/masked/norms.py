from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opdb.reductions.dimensions import dims_refusals
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS

from .masked_calls import (
    kept,
    mask_refusals,
    nothing_left,
    of_numbers,
    over_kept,
    over_several,
    rows,
    some_in_each_row,
    unheard,
)


def norm_samples(make: Make) -> Iterator[Sample]:
    yield from over_several(make, make.nonzero, 2.0)
    mask = some_in_each_row(make, 2, 4, least=2)
    for ord in (3, 1, 0, 0.5, 4, -1, -1.5):
        yield call(make.nonzero(2, 4), ord, 1, mask=mask)
    for ord in (math.inf, -math.inf):
        yield call(make.distinct(2, 4), ord, 1, mask=mask)
        yield call(make.distinct(2, 3), ord, 0, mask=make.mask(3))
    yield call(make.nonzero(2, 3))
    yield call(make.nonzero(2, 3), -2, 0, mask=make.mask(3))
    yield call(make(2, 0), dim=1, mask=make.mask(2, 1))
    yield call(make(2, 0), math.inf, 0, mask=make.mask(2, 1))
    wide = "complex128" if make.dtype.kind == "c" else "float64"
    yield call(make.nonzero(2, 3), dtype=wide, mask=some_in_each_row(make, 3))


def refusals(make: Make) -> Iterator[Refusal]:
    for refusal in dims_refusals(make):
        input, dim = refusal.sample.args
        yield Refusal(call(input, 2, dim), refusal.match, refusal.error)
    yield from mask_refusals(make)
    yield Refusal(call(make(2), "fro"), "`ord` must be a real number", TypeError)
    yield Refusal(call(make(2, 0), math.inf), "expected elements to choose from for p=inf")
    yield Refusal(call(make(2, 0), -1, 1), "expected elements to choose from for p=-1")
    yield Refusal(call(make(2), dtype="float16"), "`dtype` must hold the values", TypeError)
    yield Refusal(call(make(2, dtype="int32")), "expected inexact arrays", TypeError)


def np_norm(x, ord=2.0, dim=None, keepdim=False, dtype=None, mask=None):
    def of_row(row):
        sizes = np.abs(row)
        if sizes.size == 0:
            return np.inf if ord < 0 else 0.0
        if math.isinf(ord):
            return (np.max if ord > 0 else np.min)(sizes)
        return np.sum(sizes != 0) if ord == 0 else np.sum(sizes**ord) ** (1 / ord)

    return over_kept(of_row, x, dim, keepdim, mask)


def norm_conventions(make: Make) -> Iterator[Convention]:
    counted = "PyTorch counts what is masked out as zeros, and their powers are infinite"
    for ord in (2, 3, 1, math.inf, -math.inf, -1):
        nothing = nothing_left(math.inf if ord < 0 else 0, make=make, rest=(ord,))
        one = unheard(2, make=make, rest=(ord,), slope=1, floor=1e-15)
        for stated in (*one, nothing):
            departure = counted if ord == -1 else ""
            what = f"ord={ord}: {stated.what}"
            yield dataclasses.replace(stated, what=what, departure=departure)
    yield of_numbers(make, value=2)
    mask = make.put([True, False, True], bool)
    zeros = call(make.put([0, np.nan, 0]), mask=mask)
    yield Convention("zeros", zeros, value=0, gradient=[0, 0, 0], singular=True)
    departure = "PyTorch has what is masked out tie with infinities"
    ends = call(make.put([math.inf, 1, math.inf]), -math.inf, mask=mask)
    yield Convention(
        "infinities tie", ends, value=math.inf, gradient=[0.5, 0, 0.5], departure=departure
    )


def departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "PyTorch looks for the greatest complex number, where sizes have one",
        call(make.put([1, 2], "complex64"), -math.inf, mask=make.put([True, False], bool)),
        "input must be floating point, got torch.complex",
    )
    yield Departure(
        "gradient",
        "PyTorch counts what is masked out as zeros, and their powers are infinite",
        call(make.put([3, 4, 5], "float64"), -1, mask=make.put([True, True, False], bool)),
        r"\], -[\d.]+(?:, .*)?, mask=|ord=-",
    )


def normalize_samples(make: Make) -> Iterator[Sample]:
    mask = some_in_each_row(make, 2, 4, least=2)
    yield call(make.nonzero(2, 4), 2.0, 1, mask=mask)
    for ord in (3, 1, 0, 0.5, -1):
        yield call(make.nonzero(2, 4), ord, 1, mask=mask)
    for ord in (math.inf, -math.inf):
        yield call(make.distinct(2, 4), ord, 1, mask=mask)
    yield call(make.nonzero(2, 3), 2.0, dim=-2)
    yield call(make.nonzero(2, 3), 2.0, 1, mask=make.put([[True] * 3, [False] * 3], bool))
    yield call(make.nonzero(2, 3), 2.0, None, mask=make.put([2, 0, -1], "int64"))
    yield call(make.nonzero(2, 2, 3), 2.0, (0, 2), mask=some_in_each_row(make, 1, 2, 3))
    yield call(make.nonzero(2, 3), 2.0, [], mask=some_in_each_row(make, 3))
    yield call(make.nonzero(), 2.0, 0, mask=make.put(True, bool))
    yield call(make(2, 0), 2.0, 1, mask=make.mask(2, 1))
    yield call(make.nonzero(2, 3), 2.0, 1, eps=20.0, mask=make.put([True, False, True], bool))
    yield call(make.nonzero(2, 3), 2.0, 0, eps=1e-3, mask=make.mask(2, 3))
    wide = "complex128" if make.dtype.kind == "c" else "float64"
    yield call(make.nonzero(2, 3), 2.0, 1, dtype=wide, mask=some_in_each_row(make, 3))
    yield from rows(make, 2.0)


def normalize_refusals(make: Make) -> Iterator[Refusal]:
    for refusal in dims_refusals(make):
        input, dim = refusal.sample.args
        yield Refusal(call(input, 2, dim), refusal.match, refusal.error)
    yield from mask_refusals(make, 2, 0)
    yield Refusal(call(make(2), "fro", 0), "`ord` must be a real number", TypeError)
    yield Refusal(call(make(2, 0), math.inf, 1), "expected elements to choose from for p=inf")
    yield Refusal(call(make(2), 2, 0, dtype="float16"), "`dtype` must hold the values", TypeError)
    yield Refusal(call(make(2, dtype="int32"), 2, 0), "expected inexact arrays", TypeError)
    for dtype, eps in (("float16", 1e5), ("float32", 1e39), ("complex64", 1e39)):
        at = call(make(2, dtype=dtype), 2, 0, eps=eps)
        yield Refusal(at, f"`eps` must fit {dtype}, got")
    yield Refusal(call(make(2), 2, 0, eps=1j), "`eps` must not be complex", TypeError)


def np_normalize(x, ord, dim, eps=1e-12, dtype=None, mask=None):
    size = np_norm(x, ord, dim, True, mask=mask)
    return np.where(kept(x, mask), x, 0) / np.maximum(size, eps)


def normalize_conventions(make: Make) -> Iterator[Convention]:
    mask = make.put([False, True, False, True], bool)
    second = lambda y: y[1]
    for hidden in (math.nan, math.inf, -math.inf):
        yield Convention(
            f"{hidden} is masked out",
            call(make.put([hidden, 3, hidden, 4]), 2, 0, mask=mask),
            value=[0, 0.6, 0, 0.8],
            through=second,
            gradient=[0, 0.128, 0, -0.096],
        )
    for ord in (2, math.inf, -math.inf, -1):
        counted = "PyTorch counts what is masked out as zeros" if ord == -1 else ""
        yield Convention(
            f"all is masked out, ord={ord}",
            call(make.put([math.nan, 3, math.inf, 4]), ord, 0, mask=mask & ~mask),
            value=[0, 0, 0, 0],
            gradient=[0, 0, 0, 0],
            hessian=np.zeros((4, 4)),
        )
        yield Convention(
            f"one is left, ord={ord}",
            call(make.put([math.nan, 3]), ord, 0, mask=make.put([False, True], bool)),
            value=[0, 1],
            gradient=[0, 0],
            floor=1e-15,
            departure=counted,
        )
    numbers = call(make.put([4, 2, 8]), 2, 0, mask=make.put([0.0, math.nan, -0.0]))
    yield Convention("a mask of numbers", numbers, value=[0, 1, 0])
    zeros = call(make.put([0.0, 5, 0]), 2, 0, mask=make.put([True, False, True], bool))
    yield Convention("0 over eps", zeros, value=[0, 0, 0], gradient=[1e12, 0, 1e12])
    at = make.put([3.0, 4.0])
    yield Convention("NaN for eps", call(at, 2, 0, eps=math.nan), value=[math.nan] * 2)
    yield Convention(
        "the norm is eps",
        call(at, 2, 0, eps=5.0),
        through=lambda y: y[0],
        gradient=[0.164, -0.048],
    )
    x, eps = make.put([3.0, 4.0]), make.put(10.0)
    like = lambda x, ord, dim, *, eps: x / eps
    departure = "PyTorch takes no array"
    yield Convention("the slope in eps", call(x, 2, 0, eps=eps), like=like, departure=departure)


def normalize_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "PyTorch looks for the greatest complex number, where sizes have one",
        call(make.put([1, 2], "complex64"), -math.inf, 0, mask=make.put([True, False], bool)),
        "input must be floating point, got torch.complex",
    )
    yield Departure(
        "gradient",
        "PyTorch counts what is masked out as zeros, and their powers are infinite",
        call(make.put([3, 4, 5], "float64"), -1, 0, mask=make.put([True, True, False], bool)),
        r"\], -[\d.]+, .*mask=|ord=-",
    )
    yield Departure(
        "refused",
        "a number that is too great is refused in every dtype: PyTorch rounds it to infinity in "
        "halves alone",
        call(make.put([3, 4], "float16"), 2, 0, eps=1e5),
        "`eps` must fit b?float16",
    )


OPS = [
    OpInfo(
        functx.masked.norm,
        norm_samples,
        reference=np_norm,
        refusals=refusals,
        tolerances=(SUMS,),
        conventions=norm_conventions,
        departures=(departures,),
        kinked=True,
    ),
    OpInfo(
        functx.masked.normalize,
        normalize_samples,
        reference=np_normalize,
        refusals=normalize_refusals,
        tolerances=(SUMS,),
        conventions=normalize_conventions,
        departures=(normalize_departures,),
        gaps=(
            Gap(
                "extremal",
                "1e20 over the square of `eps` is more than float32 holds",
                at="mixed in",
            ),
        ),
        kinked=True,
    ),
]
