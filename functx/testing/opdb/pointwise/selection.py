from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EQUAL_ZEROS

from .operands import binary, real_without_numbers, SHAPES


def extremum_samples(make: Make) -> Iterator[Sample]:
    yield from binary(make)
    if category(make.dtype) == 2:
        yield edge(make.put([np.nan, 1, np.inf]), make.put([1, np.nan, -np.inf]))


def clamp_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 3, low=0, high=1), make(3, low=1, high=2))
    yield call(make(2, 3), 1, 2)
    yield call(make(2, 3), max=0.5)
    yield call(make(3), min=make(2, 1))
    yield call(make(3), max=make(2, 3))
    yield call(make(3), 2, 1)
    yield call(make(), 0)
    yield call(make(0, 3), make(3), 3)
    if category(make.dtype) == 2:
        yield edge(make.put([np.nan, 1, 1]), make.put([0, np.nan, 0]), make.put([2, 2, np.nan]))
    yield edge(make.delicate(8), 1)
    yield edge(make(8), make.delicate(8))
    yield edge(make(8), None, make.delicate(8))


def clamp_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2)), "`min` or `max` must be given", ValueError)
    yield Refusal(call(make(2), make(3)), "shapes do not fit")
    yield Refusal(call(make(2, dtype="complex64"), 0), "expected real arrays", TypeError)
    yield Refusal(call(make(2), 2j), "expected real numbers, got c128", TypeError)
    small = make(2, dtype="int8")
    yield Refusal(call(small, 0, 300), "`max` must fit int8, got 300")


def bounded(make: Make) -> Iterator[Sample]:
    yield from binary(make)
    yield call(make(2, 3), 1)
    yield call(make(3), 0.5)
    if category(make.dtype) == 2:
        yield edge(make.put([np.nan, 1, np.inf]), make.put([1, np.nan, -np.inf]))
    yield edge(make.delicate(8), make.delicate(8))


def bounded_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(2), make(3)), "shapes do not fit")
    yield Refusal(call(make(2, dtype="complex64"), 0), "expected real arrays", TypeError)
    yield Refusal(call(make(2), 2j), "expected real numbers, got c128", TypeError)
    yield Refusal(call(make(2, dtype="int8"), 300), "must fit int8, got 300")
    yield Refusal(call(make(2), None), "must be an array, got None", TypeError)
    yield Refusal(call(2, make(2)), "`input` must be an array, got 2", TypeError)


def clamp_max_conventions(make: Make) -> Iterator[Convention]:
    nan = np.nan
    x, high = make.put([1.0, 2, 1, nan, 1]), make.put([1.0, 1, 2, 1, nan])
    gradient = [1, 0, 1, 0, 0], [0, 1, 0, 0, 0]
    value = [1, 1, 1, nan, nan]
    yield Convention("at the bound, NaN", call(x, high), value=value, gradient=gradient)
    small = make.put([5e-310, -5e-310]), make.put([0.0, 0])
    yield Convention("subnormal numbers", call(*small), gradient=([0, 1], [1, 0]))


def clamp_min_conventions(make: Make) -> Iterator[Convention]:
    nan = np.nan
    x, low = make.put([1.0, 2, 1, nan, 1]), make.put([1.0, 1, 2, 1, nan])
    gradient = [1, 1, 0, 0, 0], [0, 0, 1, 0, 0]
    value = [1, 2, 2, nan, nan]
    yield Convention("at the bound, NaN", call(x, low), value=value, gradient=gradient)
    small = make.put([5e-310, -5e-310]), make.put([0.0, 0])
    yield Convention("subnormal numbers", call(*small), gradient=([1, 0], [0, 1]))


def where_samples(make: Make) -> Iterator[Sample]:
    yield call(make.mask(2, 3), make(2, 3), make(2, 3))
    yield call(make.mask(2, 1), make(3), make(2, 3))
    yield call(make.mask(2), make(2), 2)
    yield call(make.mask(2), 0.5, make(2))
    yield call(make.mask(), make(), make())
    yield call(make.mask(0, 1), make(3), make())
    yield edge(make.mask(16), make.delicate(16), make.delicate(16))


def where_refusals(make: Make) -> Iterator[Refusal]:
    integers = make(2, dtype="int64")
    yield Refusal(call(integers, make(2), make(2)), "`condition` must be of bools", TypeError)
    yield Refusal(call(make.mask(2), make(2)), "must be given together", TypeError)
    yield Refusal(call(make.mask(2), make(3), make(2)), "shapes do not fit.*`condition` bool")
    small = make(2, dtype="int8")
    yield Refusal(call(make.mask(2), small, 300), "`other` must fit int8")
    single = make(2, dtype="float32")
    yield Refusal(call(make.mask(2), 1e39, single), "`input` must fit float32")


def positions(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), size=6)
    yield call(make.put(np.eye(2, 3)), size=4, fill_value=7)
    yield call(make(), size=1)
    yield call(make(2, 0))
    yield call(make.put(np.eye(3)))
    yield call(make.mask(2, 3), other=None)
    yield call(make.mask(3), None, None)


def np_positions(condition, input=None, other=None, *, size=None, fill_value=-1):
    found = np.nonzero(np.atleast_1d(condition))
    if size is None:
        return found
    fill = np.full(max(size - len(found[0]), 0), fill_value)
    return tuple(np.concatenate([x[:size], fill]) for x in found)


def nan_to_num_samples(make: Make) -> Iterator[Sample]:
    for shape in SHAPES:
        yield call(make(*shape))
    if category(make.dtype) == 2:
        yield edge(make.edges(), 1.0, posinf=2.0, neginf=-2.0)
        special = lambda: make.put([np.nan, np.inf, -np.inf, 1.0])
        yield call(special(), 1.0, posinf=2.0, neginf=-2.0)
        yield call(special(), None, 5.0, -5.0)
    if category(make.dtype) == 3:
        special = make.put([complex(np.nan, 1), complex(2, -np.inf)])
        yield call(special, nan=1.0, neginf=3.0)
    if category(make.dtype) < 2:
        yield call(make(2), nan=1.5, posinf=1e9, neginf=-1e9)


def np_nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    return np.nan_to_num(x, nan=nan or 0.0, posinf=posinf, neginf=neginf)


def np_clamp(x, min=None, max=None):
    raised = x if min is None else np.maximum(x, min)
    return raised if max is None else np.minimum(raised, max)


def maximum_conventions(make: Make) -> Iterator[Convention]:
    first, second = make.put([1.0, 1, 2, np.nan, 1]), make.put([1.0, 2, 1, 1, np.nan])
    gradient = [0.5, 0, 1, 1, 1], [0.5, 1, 0, 1, 1]
    yield Convention("ties are shared, NaN counts", call(first, second), gradient=gradient)
    zeros = make.put([0.0, -0.0]), make.put([-0.0, 0.0])
    yield Convention("zeros of either sign tie", call(*zeros), gradient=([0.5, 0.5], [0.5, 0.5]))
    small = make.put([5e-310, 0.0]), make.put([0.0, 5e-310])
    yield Convention("subnormal numbers do not tie", call(*small), gradient=([1, 0], [0, 1]))


def minimum_conventions(make: Make) -> Iterator[Convention]:
    first, second = make.put([1.0, 1, 2, np.nan, 1]), make.put([1.0, 2, 1, 1, np.nan])
    gradient = [0.5, 1, 0, 1, 1], [0.5, 0, 1, 1, 1]
    yield Convention("ties are shared, NaN counts", call(first, second), gradient=gradient)
    zeros = make.put([0.0, -0.0]), make.put([-0.0, 0.0])
    yield Convention("zeros of either sign tie", call(*zeros), gradient=([0.5, 0.5], [0.5, 0.5]))
    small = make.put([5e-310, 0.0]), make.put([0.0, 5e-310])
    yield Convention("subnormal numbers do not tie", call(*small), gradient=([0, 1], [1, 0]))


def fmax_conventions(make: Make) -> Iterator[Convention]:
    nan = np.nan
    first, second = make.put([1.0, 1, 2, nan, 1, nan]), make.put([1.0, 2, 1, 1, nan, nan])
    value, gradient = [1, 2, 2, 1, 1, nan], ([1, 0, 1, 0, 1, 1], [0, 1, 0, 1, 0, 0])
    yield Convention("ties and NaN", call(first, second), value=value, gradient=gradient)
    small = make.put([5e-310, 0.0]), make.put([0.0, 5e-310])
    yield Convention("subnormal numbers do not tie", call(*small), gradient=([1, 0], [0, 1]))


def fmin_conventions(make: Make) -> Iterator[Convention]:
    nan = np.nan
    first, second = make.put([1.0, 1, 2, nan, 1, nan]), make.put([1.0, 2, 1, 1, nan, nan])
    value, gradient = [1, 1, 1, 1, 1, nan], ([1, 1, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0])
    yield Convention("ties and NaN", call(first, second), value=value, gradient=gradient)
    small = make.put([5e-310, 0.0]), make.put([0.0, 5e-310])
    yield Convention("subnormal numbers do not tie", call(*small), gradient=([0, 1], [1, 0]))


def clamp_conventions(make: Make) -> Iterator[Convention]:
    nan = np.nan
    x, low, high = make.put([nan, 1, 3]), make.put([0.0, nan, 2]), make.put([1.0, 2, 1])
    yield Convention("NaN, bounds crossed", call(x, low, high), value=[nan, nan, 1])
    yield Convention(
        "at the bounds",
        call(
            make.put([0.0, 1, -1, 2, 0.5, 0.5]),
            make.put([0.0, 0, 0, 0, 0, 2]),
            make.put([1.0, 1, 1, 1, 1, 1]),
        ),
        gradient=([1, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 1]),
    )
    bounds = make.put([nan, 0.0]), make.put([2.0, 1.0])
    gradient = [0, 0], [0, 0], [0, 0]
    yield Convention("NaN has no slope", call(make.put([1.0, nan]), *bounds), gradient=gradient)
    mask = make.put([True, False], "bool")
    yield Convention("bools as bounds", call(make.put([0.5, 0.5]), mask), value=[1, 0.5])
    yield Convention("bools among bools", call(mask, None, mask), value=[True, False])
    low = make.put([0.0, 2])
    yield Convention("from below", call(make.put([0.0, 1]), low), gradient=([1, 0], [0, 1]))
    small = call(make.put([5e-310, -5e-310]), make.put([0.0, 0]))
    yield Convention("subnormal numbers", small, gradient=([1, 0], [0, 1]))
    yield Convention("numbers", call(make.put([0.0, 1, 2]), 0, 1), gradient=[1, 1, 0])
    yield Convention(
        "curvature of what is clamped",
        call(make.put([1.0]), 0, 1),
        through=lambda y: y * y,
        hessian=2,
    )


def where_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "the order of PyTorch's method is understood too",
        call(make.put([1.0, 2.0]), make.put([True, False], bool), 0.0),
        "where expected condition to be a boolean tensor",
    )


def clamp_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "dtype",
        "a 0-d array is one beside a number too, where PyTorch takes both for numbers",
        call(make.put([1, 2], "int32"), 0, make.put(1.0, "float64")),
        r"float64, PyTorch float32",
    )
    yield Departure(
        "refused",
        "a bound that the dtype cannot hold is refused, also beside NaN, which decides in PyTorch",
        call(make.put([1.0, 2.0], "float32"), np.nan, 1e39),
        r"clamp\(.*\bnan\b.*must fit",
    )


def where_conventions(make: Make) -> Iterator[Convention]:
    condition = make.put([True, False], bool)
    yield Convention(
        "what is not chosen has gradient 0, infinite or not",
        call(condition, make.put([1.0, np.inf]), make.put([np.nan, 2.0])),
        value=[1, 2],
        gradient=([1, 0], [0, 1]),
    )
    yield Convention(
        "PyTorch's method order",
        call(make.put([1.0, 2.0]), condition, 0.0),
        value=[1, 0],
        departure="PyTorch takes it as a method only",
    )
    half = call(condition, make.put([1, 2], "float16"), 1e6)
    yield Convention("a number too large for halves", half, value=[1, np.inf])


def nan_to_num_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([np.nan, np.inf, -np.inf, 1.0])
    limits = np.finfo("float64")
    value = [0, limits.max, limits.min, 1]
    yield Convention("not finite", call(at), value=value, gradient=[0, 0, 0, 1])
    half = make.put([np.inf], "float16")
    yield Convention("the greatest half", call(half), value=[65504])
    infinite = call(at, np.inf, 2.0, -2.0)
    yield Convention("NaN to infinity", infinite, value=[np.inf, 2, -2, 1])


def nan_to_num_refusals(make: Make) -> Iterator[Refusal]:
    for name in ("nan", "posinf", "neginf"):
        for value in (1j, make(1, dtype="float32")):
            at = call(make(2, dtype="complex64"), **{name: value})
            yield Refusal(at, f"`{name}` must be a real number, got", TypeError)


OPS = [
    # Of two zeros PyTorch takes the one that its vector width happens to.
    OpInfo(
        functx.maximum,
        extremum_samples,
        reference=np.maximum,
        refusals=real_without_numbers,
        tolerances=(EQUAL_ZEROS,),
        conventions=maximum_conventions,
    ),
    OpInfo(
        functx.minimum,
        extremum_samples,
        reference=np.minimum,
        refusals=real_without_numbers,
        tolerances=(EQUAL_ZEROS,),
        conventions=minimum_conventions,
    ),
    OpInfo(
        functx.fmax,
        extremum_samples,
        reference=np.fmax,
        refusals=real_without_numbers,
        tolerances=(EQUAL_ZEROS,),
        conventions=fmax_conventions,
    ),
    OpInfo(
        functx.fmin,
        extremum_samples,
        reference=np.fmin,
        refusals=real_without_numbers,
        tolerances=(EQUAL_ZEROS,),
        conventions=fmin_conventions,
    ),
    OpInfo(
        functx.clamp,
        clamp_samples,
        reference=np_clamp,
        refusals=clamp_refusals,
        conventions=clamp_conventions,
        departures=(clamp_departures,),
        dtypes=Accepts.REAL_NUMBER.value,
    ),
    OpInfo(
        functx.clamp_max,
        bounded,
        reference=np.minimum,
        refusals=bounded_refusals,
        tolerances=(EQUAL_ZEROS,),
        conventions=clamp_max_conventions,
        dtypes=Accepts.REAL_NUMBER.value,
    ),
    OpInfo(
        functx.clamp_min,
        bounded,
        reference=np.maximum,
        refusals=bounded_refusals,
        tolerances=(EQUAL_ZEROS,),
        conventions=clamp_min_conventions,
        dtypes=Accepts.REAL_NUMBER.value,
    ),
    OpInfo(
        functx.where,
        where_samples,
        reference=np.where,
        refusals=where_refusals,
        conventions=where_conventions,
        departures=(where_departures,),
    ),
    OpInfo(
        functx.where,
        positions,
        reference=np_positions,
        variant="positions",
        departures=(Departure("dtype", "None is what is left out", answer="i64", match="None"),),
        dtypes=("bool", "int64"),
    ),
    OpInfo(
        functx.nan_to_num,
        nan_to_num_samples,
        reference=np_nan_to_num,
        conventions=nan_to_num_conventions,
        refusals=nan_to_num_refusals,
        kinked=True,
    ),
]
