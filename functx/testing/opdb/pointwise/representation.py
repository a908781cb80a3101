from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import functx
from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tolerances import EXACT

from .operands import floating_without_numbers, PAIRS, quiet, unary_nonzero, without_numbers


INF, NAN = np.inf, np.nan


def frexp_samples(make: Make) -> Iterator[Sample]:
    yield from unary_nonzero(make)
    yield call(make.nonzero(300))
    yield edge(make.put(2.0 ** np.arange(-9, 9)))
    if make.dtype != np.float64:  # whose subnormal numbers are none in 32 bits
        yield edge(subnormal(make))


def subnormal(make: Make) -> jax.Array:
    least = float(jnp.finfo(make.dtype).smallest_subnormal)
    return make.put(least * make.rng.permutation([1, -1, 2, 3, -5, 100]))


def frexp_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(2.0), r"`input` must be an array, got 2\.0", TypeError)
    for dtype, short in (("int32", "i32"), ("bool", "bool"), ("complex64", "c64")):
        message = f"expected floating arrays, got {short}"
        yield Refusal(call(make(2, dtype=dtype)), message, TypeError)


def frexp_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([0.0, -0.0, INF, -INF, NAN, 3, -0.1]))
    value = [0, -0.0, INF, -INF, NAN, 0.75, -0.8], [0, 0, 0, 0, 0, 2, -3]
    through = lambda parts: parts[0]
    gradient = [1, 1, 1, 1, 1, 0.25, 8]
    yield Convention("zeros, infinities and NaN", at, value=value)
    yield Convention("their slopes", at, gradient=gradient, through=through)
    small = call(make.put([5e-324, -1e-310]))
    value = [0.5, -0.5752618031559393], [-1073, -1029]
    yield Convention("subnormal numbers", small, value=value)
    curved = call(make.put([3.0]))
    yield Convention("no curvature", curved, hessian=[[0]], through=through)


def ldexp_samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first), make(*second))
    yield call(make(2, 3), make(2, 3, dtype="int32"))
    yield call(make(5), make.put([0, 1, -1, 7, -7], "int64"))
    yield call(make(3, dtype="int32"), make(3))
    if category(make.dtype) == 2:
        yield edge(*make.edge_pairs())
        info = jnp.finfo(make.dtype)
        least, most = 1.5 * float(info.tiny), float(info.max)
        span = info.maxexp - info.minexp - 2
        # There and back, where the power alone is out of range.
        yield edge(make.put([least, most, -least, -most]), make.put([span, -span] * 2, "int32"))
        yield edge(make.put([least, most]), make.put([0.5, -0.5]))


@quiet
def np_ldexp(x, other):
    if any(np.asarray(v).dtype.kind == "c" for v in (x, other)):
        return x * np.exp2(other)
    exponent = np.asarray(other, np.longdouble)
    stays = np.isfinite(exponent) & ((x == 0) | np.isinf(x))
    return np.where(stays, x, x * np.exp2(exponent))


def ldexp_conventions(make: Make) -> Iterator[Convention]:
    x, exponent = make.put([0.0, -0.0, INF, 1, -1]), make.put([5000, 5000, -5000, 5000, -5000])
    yield Convention(
        "powers out of range",
        call(x, exponent),
        value=[0, -0.0, INF, INF, -0.0],
        departure="PyTorch forms the power first, which is 0 or infinite",
    )
    gradient = [INF, INF, 0, INF, 0], [0, -0.0, INF, INF, -0.0]
    yield Convention(
        "slopes of powers out of range",
        call(x, exponent),
        gradient=gradient,
        departure="PyTorch forms the power first, which is 0 or infinite",
    )
    x, exponent = make.put([1.0, -1, 0, INF, 2]), make.put([INF, -INF, INF, -INF, NAN])
    yield Convention("no number of times", call(x, exponent), value=[INF, -0.0, NAN, NAN, NAN])
    x, exponent = make.put([3.0, -2.0]), make.put([2.0, 0.5])
    twos, powers = np.log(2), np.array([4, np.sqrt(2)])
    value = powers * [3, -2]
    gradient = powers, twos * value
    yield Convention("whole and halves", call(x, exponent), value=value, gradient=gradient)
    x, exponent = make.put(3.0), make.put(1.0)
    hessian = [[0, 2 * twos], [2 * twos, 6 * twos**2]]
    yield Convention("curvature", call(x, exponent), hessian=hessian)
    exact = call(make.put([1 + 2j], "complex128"), make.put([70], "int32"))
    yield Convention("complex numbers", exact, value=[2.0**70 * (1 + 2j)])


def ldexp_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "the slope is the power, infinite where it is out of range, and 0 in PyTorch",
        call(make.put([1.0], "float64"), make.put([5000], "int32")),
        r"of array 0: -?inf at .*PyTorch -?0\.0",
    )


def nextafter_samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first), make(*second))
    yield call(make(3), make(3, dtype="int32"))
    yield edge(*make.edge_pairs())
    equal = make.put([1.0, -2.0, 0.0, -0.0, 3.0])
    yield edge(equal, make.put([1.0, -2.0, -0.0, 0.0, 3.0]))
    yield edge(subnormal(make), make.put(np.zeros(6)))
    yield edge(make.put([0.0, -0.0, 0.0, -0.0]), make.put([1.0, 1.0, -1.0, -1.0]))


def nextafter_conventions(make: Make) -> Iterator[Convention]:
    most, least = np.finfo("float64").max, 5e-324
    x = make.put([0.0, -0.0, 0.0, INF, most, NAN, 1, least, -least, -0.0])
    y = make.put([1.0, -1, -0.0, 0, INF, 1, NAN, 0, 0, 0])
    value = [least, -least, -0.0, most, INF, NAN, NAN, 0, -0.0, 0]
    yield Convention("ends of the range", call(x, y), value=value)
    gradient = [1, 1, 0, 1, 1, 1, 1, 1, 1, 0], [0] * 10
    yield Convention("slopes", call(x, y), gradient=gradient)
    narrow = call(make.put([1.0, -1.0], "bfloat16"), make.put([2.0, 0.0], "bfloat16"))
    yield Convention("of halves", narrow, value=[1 + 2.0**-7, 2.0**-8 - 1])


def nextafter_in(dtype: str, **facts: Any) -> OpInfo:
    """The entry of one dtype: which number is next depends on it."""

    def np_nextafter(x, y):
        x, y = x.astype(jnp.dtype(dtype)), y.astype(jnp.dtype(dtype))
        return np.where(x == y, y, np.nextafter(x, y))  # NumPy's halves keep the sign of x

    return OpInfo(
        functx.nextafter,
        nextafter_samples,
        reference=np_nextafter,
        variant=dtype,
        dtypes=(dtype,),
        tolerances=(EXACT,),
        **facts,
    )


IN_32_BITS = Gap("x64_off", "the next number in 32 bits is another one")
AT_EQUAL = Gap("limits", "the derivative is PyTorch's where both are equal, 0, and 1 beside")

OPS = [
    OpInfo(
        functx.frexp,
        frexp_samples,
        reference=np.frexp,
        refusals=frexp_refusals,
        conventions=frexp_conventions,
        tolerances=(EXACT,),
    ),
    OpInfo(
        functx.ldexp,
        ldexp_samples,
        reference=np_ldexp,
        refusals=without_numbers,
        conventions=ldexp_conventions,
        departures=(ldexp_departures,),
    ),
    nextafter_in("float16"),
    nextafter_in("bfloat16"),
    nextafter_in("float32", refusals=floating_without_numbers),
    nextafter_in("float64", conventions=nextafter_conventions, gaps=(IN_32_BITS, AT_EQUAL)),
]
