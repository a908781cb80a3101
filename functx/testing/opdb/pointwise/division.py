from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail
from functx.testing.tolerances import Tolerance

from .operands import PAIRS, quiet, unary_nonzero, unbroadcastable


def operands(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first), make.nonzero(*second))
    yield call(make(2, 3), 2)
    yield call(make(3), 0.75)
    # Of whole numbers, values alone: what is rounded or left over jumps at multiples.
    yield edge(make.put(np.arange(1, 83)), 41)
    yield edge(make.put(np.arange(1, 22).reshape(3, 7)), make.put([[3], [7], [41]]))


def quotients(make: Make) -> Iterator[Sample]:
    yield from operands(make)
    if category(make.dtype) == 2:
        yield edge(*make.edge_pairs())
        # Among quotients that are all small.
        yield edge(make.put([5, -5, 2, 3]), make.put([np.inf, -np.inf, np.inf, -2]))


def steps(make: Make) -> Iterator[Sample]:
    """Quotients to be rounded: where they are no integers, none is within roundings of one."""
    yield from operands(make)
    if category(make.dtype) == 2:
        yield edge(make.edges(), 0.7)
        yield edge(make.put([[0.7], [-0.7]]), make.edges())
        yield edge(make.put([5, -5, 2, 3]), make.put([np.inf, -np.inf, np.inf, -2]))


def rounded(mode: str):
    def samples(make: Make) -> Iterator[Sample]:
        for sample in steps(make):
            yield dataclasses.replace(sample, kwargs={"rounding_mode": mode})

    return samples


def zeros_refused(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    integers = make(2, dtype="int64"), make.put([1, 0], "int64")
    yield Refusal(call(*integers), "`other` must not hold zeros")
    yield Refusal(call(make(0, dtype="int8"), 2**40), "`other` must fit int8, got 1099511627776")
    yield Refusal(call(make(2, dtype="int8"), 0), "`other` must not hold zeros")
    yield Refusal(call(make(2), 2j), "expected real numbers, got c128", TypeError)
    mask, complex_ = make.put([True], "bool"), make(1, dtype="complex64")
    yield Refusal(call(mask, mask), "expected real numbers, got bool", TypeError)
    yield Refusal(call(complex_, complex_), "expected real arrays, got c64", TypeError)


def remainder_refusals(make: Make) -> Iterator[Refusal]:
    yield from zeros_refused(make)
    yield Refusal(call(2, 3), "`input` or `other` must be an array", TypeError)


def div_refusals(make: Make) -> Iterator[Refusal]:
    yield from unbroadcastable(make)
    yield Refusal(call(make(2), 2, rounding_mode="up"), "`rounding_mode` must be", ValueError)
    integers = make(2, dtype="int64"), make.put([1, 0], "int64")
    message = "`other` must not hold zeros"
    yield Refusal(call(*integers, rounding_mode="floor"), message)
    complex_ = make(2, dtype="complex64")
    message = "expected real numbers, got complex64"
    yield Refusal(call(complex_, 2, rounding_mode="trunc"), message, TypeError)


@quiet
def np_div(x, y, *, rounding_mode=None):
    if rounding_mode is None:
        return np.true_divide(x, y)
    if rounding_mode == "floor":
        return np.floor_divide(x, y)
    if np.asarray(x).dtype.kind == "f":
        return np.trunc(np.true_divide(x, y))
    return np.sign(x) * np.sign(y) * np.floor_divide(np.abs(x), np.abs(y))


@quiet
def np_remainder(x, y):
    if all(np.asarray(v).dtype.kind in "iub" for v in (x, y)):
        return np.remainder(x, y)
    rest = np.fmod(x, y)  # NumPy's remainder gives a zero the sign of y
    return np.where((rest != 0) & ((rest < 0) != (np.asarray(y) < 0)), rest + y, rest)


@quiet
def np_addcdiv(x, first, second, *, value=1):
    return x + value * first / second


SCALED = Tolerance("a scaled quotient is rounded before the sum", floor=8, elementwise=True)
REAL_NUMBERS = Accepts.REAL_NUMBER.value
ROUNDED_ONCE = Tolerance(
    "a quotient is rounded once, correctly", ulps=0, dtypes=frozenset(Accepts.FLOATING.value)
)


def rounded_conventions(mode: str):
    def conventions(make: Make) -> Iterator[Convention]:
        quotient = call(make.put([7.0, -7.0]), make.put([2.0, 4.0]), rounding_mode=mode)
        yield Convention("no slope", quotient, gradient=([0, 0], [0, 0]))

    return conventions


def floor_divide_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    x = make.put([7.0, -7, 1, 0, 5, -5, 0.6])
    y = make.put([2.0, 2, 0, 0, -inf, inf, 0.2])
    yield Convention("signs, 0 and infinities", call(x, y), value=[3, -4, inf, nan, -1, -1, 2])
    yield Convention(
        "no slope",
        call(make.put([7.0, -7.0]), make.put([2.0, 4.0])),
        gradient=([0, 0], [0, 0]),
        departure="PyTorch has no derivative here",
    )


def remainder_conventions(make: Make) -> Iterator[Convention]:
    x, y = make.put([7.0, 1, np.inf, 5]), make.put([-2.0, 0, 2, np.inf])
    yield Convention("0 and infinities", call(x, y), value=[-1, np.nan, np.nan, 5])
    x, y = make.put([7.0, -7, 5.5, 6]), make.put([2.0, 2, -3, 3])
    gradient = [1, 1, 1, 1], [-3, 4, 2, -2]
    yield Convention("signs and multiples", call(x, y), gradient=gradient)
    x, y = make.put(7.0), make.put(2.0)
    yield Convention("no curvature", call(x, y), hessian=[[0, 0], [0, 0]])


def fmod_refusals(make: Make) -> Iterator[Refusal]:
    yield from zeros_refused(make)
    yield Refusal(call(2, make(2)), "`input` must be an array, got 2", TypeError)


def fmod_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    x, y = make.put([7.0, -7, inf, 1, 1, -0.0, 5]), make.put([4.0, 4, 2, 0, inf, 2, -inf])
    yield Convention("0 and infinities", call(x, y), value=[3, -3, nan, nan, 1, -0.0, 5])
    x, y = make.put([7.0, -7, 5.5, 6, inf, 5, 1]), make.put([2.0, 2, -3, 3, 2, inf, 0])
    gradient = [1] * 7, [-3, 3, 1, -2, -inf, 0, -inf]
    yield Convention("signs and multiples", call(x, y), gradient=gradient)
    x, y = make.put(7.0), make.put(2.0)
    yield Convention("no curvature", call(x, y), hessian=[[0, 0], [0, 0]])


def reciprocal_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, -0.0, 2.0])
    value, gradient = [np.inf, -np.inf, 0.5], [-np.inf, -np.inf, -0.25]
    yield Convention("0", call(at), value=value, gradient=gradient)


def div_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    x, y = make.put([1.0, -1.0, 0.0, 1.0]), make.put([0.0, 0.0, 0.0, inf])
    gradient = [inf, inf, inf, 0], [-inf, inf, nan, -0.0]
    yield Convention("0 and infinity", call(x, y), value=[inf, -inf, nan, 0], gradient=gradient)
    tiny = call(make.put([0.0, 1e-200]), make.put([1e-200, 1e-200]))
    yield Convention("a divisor with an infinite square", tiny, gradient=([1e200] * 2, [0, -1e200]))
    masked = call(make.put([False, True, False], "bool"), make.put([nan, inf, 2]))
    yield Convention("a mask over NaN", masked, value=[nan, 0, 0])


def addcdiv_samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 3), make(2, 3), make.nonzero(2, 3), value=2)
    yield call(make(3), make(2, 1), make.nonzero(1, 3))
    yield call(make(), make(), make.nonzero())
    yield call(make(0, 3), make(3), make.nonzero())
    yield call(make(2), make(2), make.nonzero(2), value=True)
    yield call(make(2), make(2), make.nonzero(2), value=-1.5)
    yield call(make(2), make(2), make.nonzero(2), value=make())
    yield call(make(2, dtype="int32"), make(2), make.nonzero(2, dtype="int64"), value=0.75)
    yield call(make(2), make.mask(2), make.nonzero(2), value=0.5)
    if category(make.dtype) == 2:
        first, second = make.edge_pairs()
        yield edge(make.put(np.ones(first.shape)), first, second)
        small, other = make.put([1e-3, -1e-4, 1e-5]), make.put([1e-5, 1e-3, -1e-4])
        yield edge(small, make.put([0, 0, 0]), other)
        yield edge(make.put([0, 0, 0]), small, other)


def addcdiv_refusals(make: Make) -> Iterator[Refusal]:
    three = make(2), make(2), make(2)
    yield Refusal(call(make(2), make(3), make(2)), "shapes do not fit")
    yield Refusal(call(*three, value=1j), "`value` must be a number or 0-d, and real", TypeError)
    yield Refusal(call(*three, value=make(2)), "`value` must be a number or 0-d", TypeError)
    yield Refusal(call(*three, value=1e39), "`value` must fit float32, got 1")
    integers, mask = make(2, dtype="int64"), make.mask(2)
    message = "`tensor1` or `tensor2` must be floating or complex, got"
    for x, y in ((integers, integers), (mask, integers), (mask, mask)):
        yield Refusal(call(make(2), x, y), message)
    for name, operands in (
        ("input", (2.0, make(2), make(2))),
        ("tensor1", (make(2), 2.0, make(2))),
        ("tensor2", (make(2), make(2), 2.0)),
    ):
        yield Refusal(call(*operands), f"`{name}` must be an array, got 2", TypeError)


def addcdiv_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    x, first, second = make.put([1.0] * 4), make.put([1.0, -1, 0, 1]), make.put([0.0, 0, 0, inf])
    gradient = [1] * 4, [inf, inf, inf, 0], [-inf, inf, nan, -0.0]
    yield Convention(
        "0 and infinity", call(x, first, second), value=[inf, -inf, nan, 1], gradient=gradient
    )
    two = make.put([1.0, 2.0])
    none = call(two, two, make.put([4.0, 4.0]), value=make.put(0.0))
    yield Convention(
        "none of it",
        none,
        gradient=([1, 1], [0, 0], [-0.0, -0.0], 0.75),
        departure="PyTorch's `value` has no gradient",
    )
    mask = call(make.put([0.0, 0]), make.put([False, False], "bool"), make.put([nan, inf]))
    yield Convention("a mask over NaN", mask, value=[nan, 0])
    empty = call(make.put(np.zeros((0, 2))), make.put([1.0, 2.0]), make.put(0.0))
    gradient = np.zeros((0, 2)), [0, 0], 0
    yield Convention("nothing has no slope", empty, gradient=gradient)


def fmod_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "the quotient that belongs to the remainder, where PyTorch truncates a rounded one",
        call(make.put([30000.0], "float64"), make.put([0.001], "float64")),
        r"of array 1: (-?\d\d\d)[^ ]* at .*PyTorch \1",
    )


OPS = [
    OpInfo(
        functx.div,
        quotients,
        reference=np_div,
        refusals=div_refusals,
        conventions=div_conventions,
        tolerances=(ROUNDED_ONCE,),
    ),
    OpInfo(
        functx.div,
        rounded("floor"),
        reference=np_div,
        variant="floor",
        dtypes=REAL_NUMBERS,
        conventions=rounded_conventions("floor"),
    ),
    OpInfo(
        functx.div,
        rounded("trunc"),
        reference=np_div,
        variant="trunc",
        dtypes=REAL_NUMBERS,
        conventions=rounded_conventions("trunc"),
        tolerances=(
            Tolerance(
                "the quotient is rounded before it is truncated",
                ulps=4,
                dtypes=frozenset({"float16"}),
            ),
        ),
    ),
    OpInfo(
        functx.addcdiv,
        addcdiv_samples,
        reference=np_addcdiv,
        refusals=addcdiv_refusals,
        dtypes=Accepts.INEXACT.value,
        tolerances=(SCALED,),
        conventions=addcdiv_conventions,
    ),
    OpInfo(
        functx.floor_divide,
        steps,
        reference=np.floor_divide,
        refusals=zeros_refused,
        dtypes=REAL_NUMBERS,
        conventions=floor_divide_conventions,
    ),
    OpInfo(
        functx.remainder,
        quotients,
        reference=np_remainder,
        refusals=remainder_refusals,
        dtypes=REAL_NUMBERS,
        conventions=remainder_conventions,
    ),
    OpInfo(
        functx.fmod,
        quotients,
        reference=quiet(np.fmod),
        refusals=fmod_refusals,
        departures=(fmod_departures,),
        dtypes=REAL_NUMBERS,
        conventions=fmod_conventions,
    ),
    OpInfo(
        functx.reciprocal,
        unary_nonzero,
        reference=quiet(lambda x: 1 / x),
        tolerances=(ROUNDED_ONCE,),
        conventions=reciprocal_conventions,
        tails=(Tail(lambda mp, x: 1 / x),),
    ),
]
