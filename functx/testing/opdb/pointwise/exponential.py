from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.special

import functx
from functx._core import Accepts, category
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call, edge
from functx.testing.tail import Tail
from functx.testing.tolerances import AT_ROOTS, Tolerance, ZERO_TIMES_A_LOGARITHM

from .operands import (
    floating_without_numbers,
    PAIRS,
    quiet,
    real_only,
    reals_or_a_number,
    unary,
    without_numbers,
)


def sigmoid_samples(make: Make) -> Iterator[Sample]:
    yield from unary(low=-1, high=1)(make)
    if category(make.dtype) == 2:
        yield edge(make.put([-200.0, 200.0, -np.inf, np.inf]))


def powers_of(base: float):
    """Logarithms of these are whole numbers."""

    def samples(make: Make) -> Iterator[Sample]:
        yield from unary(low=0.1)(make)
        if category(make.dtype) == 2:
            yield edge(make(300, low=0.5, high=2))
            most = int(np.log(float(jnp.finfo(make.dtype).max)) / np.log(base))
            yield edge(
                make.put(base ** np.arange(-most if base == 2 else 0, most, dtype="float64"))
            )

    return samples


def exp2_samples(make: Make) -> Iterator[Sample]:
    yield from unary()(make)
    if category(make.dtype) == 2:
        yield edge(make(300, low=-9, high=9))
        most = int(np.log2(float(jnp.finfo(make.dtype).max)))
        yield edge(make(300, low=2 - most, high=most))
        yield edge(make.put(np.arange(2 - most, most)))


def expm1_samples(make: Make) -> Iterator[Sample]:
    yield from unary()(make)
    if category(make.dtype) == 2:
        yield edge(make(300, low=-20, high=20))


def logit_samples(make: Make) -> Iterator[Sample]:
    inside = ft.partial(make, low=0.1, high=0.9)
    if category(make.dtype) < 2:
        inside = ft.partial(make, low=0, high=1)
    yield call(inside(2, 3))
    yield call(inside(2, 3), eps=0.05)
    yield call(inside(3), 0.05)
    yield call(inside(2, 1, 2, 2), eps=-1.0)
    yield call(inside())
    yield call(inside(2, 0))
    if category(make.dtype) == 2:
        yield call(make(3, low=0.01, high=0.19), eps=0.2)
        yield call(make(3, low=0.81, high=0.99), eps=0.2)
        yield edge(make(300, low=0, high=1))
        yield edge(make.edges(), eps=0)
    yield edge(make.edges())
    yield edge(make.edges(), eps=2.0**-10)


def logit_refusals(make: Make) -> Iterator[Refusal]:
    yield from real_only(make)
    yield Refusal(call(make(2), eps=1j), "`eps`", TypeError)
    yield Refusal(call(make(2), eps=1e39), "`eps` must fit float32")


def logaddexp_samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first, low=-1, high=1), make(*second, low=-1, high=1))
    if category(make.dtype) == 2:
        yield edge(*make.edge_pairs())
        yield call(make.put([0.0, 300.0, -300.0, 1.0]), make.put([-20.0, 300.0, -310.0, 1.0]))
        yield edge(make.put([np.inf, -np.inf, np.inf, -np.inf]), make.put([np.inf, -np.inf, 1, 1]))
        small, nothing = make.put([1e-3, -1e-4, 1e-5]), make.put([-np.inf] * 3)
        yield edge(small, nothing)
        yield edge(nothing, small)


def logaddexp_refusals(make: Make) -> Iterator[Refusal]:
    yield from without_numbers(make)
    integers = make(2, dtype="int64")
    yield Refusal(call(integers, integers), "expected a floating common dtype", TypeError)


def xlogy_samples(make: Make) -> Iterator[Sample]:
    for first, second in PAIRS:
        yield call(make(*first), make(*second, low=0.2))
    yield call(make(3), 2)
    yield call(2, make(3, low=0.2))
    yield call(make.put([0, 0, 1]), make(3, low=0.2))
    if category(make.dtype) == 2:
        yield edge(*make.edge_pairs())
        yield edge(make.put([0, 0, np.nan, 0, 1]), make.put([0, -1, 0, np.nan, 0]))


@quiet
def np_sigmoid(x):
    return scipy.special.expit(x) if x.dtype.kind == "f" else 1 / (1 + np.exp(-x))


@quiet
def np_logit(x, eps=None):
    if eps is not None and eps >= 0:
        x = np.where(x < eps, eps, np.where(x > 1 - eps, 1 - eps, x))
    return np.where((x > 0.25) & (x < 1), np.log1p((2 * x - 1) / (1 - x)), np.log(x / (1 - x)))


@quiet
def np_logaddexp(x, y):
    return np.logaddexp(x, y) if x.dtype.kind == "f" else np.log(np.exp(x) + np.exp(y))


def log_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([0.0, 2.0, -1.0])
    value = [-np.inf, np.log(2), np.nan]
    yield Convention("0 and below", call(at), value=value, gradient=[np.inf, 0.5, -1])
    inside = complex(0.7655545765826068, -0.008945530537181057)
    value = -0.2670865057475567 - 0.011684501279525793j
    yield Convention("within the unit circle", call(make.put(inside, "complex128")), value=value)


def log1p_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([-1.0, 0.0, 1e-20])
    yield Convention("-1 and 0", call(at), value=[-np.inf, 0, 1e-20], gradient=[np.inf, 1, 1])
    ends = call(make.put([-1.0, -2, -0.0, np.inf, -np.inf, np.nan, 1e-20], "float32"))
    value = [-np.inf, np.nan, -0.0, np.inf, np.nan, np.nan, 1e-20]
    yield Convention("ends in float32", ends, value=value)
    inside = make.put(-0.2344420710559351 + 0.0018756229611577233j, "complex128")
    value = -0.267147390837939863 + 0.00245000298138795405j
    yield Convention("within the unit circle", call(inside), value=value)


def sigmoid_conventions(make: Make) -> Iterator[Convention]:
    at = make.put([1e3, -1e3, np.inf, -np.inf, 0])
    yield Convention("far out", call(at), value=[1, 0, 1, 0, 0.5], gradient=[0, 0, 0, 0, 0.25])


def exp2_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([np.inf, -np.inf, 1e300, -1e300, np.nan, 3, 3, -1]))
    value = np.array([np.inf, 0, np.inf, 0, np.nan, 8, 8, 0.5])
    yield Convention("far out", at, value=value, gradient=value * np.log(2))


def expm1_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([np.inf, -np.inf, -0.0, 1e-20, 1e3]))
    value, gradient = [np.inf, -1, -0.0, 1e-20, np.inf], [np.inf, 0, 1, 1, np.inf]
    yield Convention("0 and far out", at, value=value, gradient=gradient)
    ends = call(make.put([np.inf, -np.inf, -0.0, 1e-20, 1e3, np.nan, -200], "float32"))
    yield Convention("ends in float32", ends, value=[*value, np.nan, -1])


def base_conventions(base: int):
    def conventions(make: Make) -> Iterator[Convention]:
        at = call(make.put([0.0, 1, base, -1, np.inf]))
        slope = 1 / np.log(base)
        gradient = [np.inf, slope, slope / base, -slope, 0]
        yield Convention(
            "0 and below", at, value=[-np.inf, 0, 1, np.nan, np.inf], gradient=gradient
        )
        small = call(make.put([2.0**-140, 2.0**-149], "float32"))
        value = np.array([-140, -149]) * np.log(2) * slope
        yield Convention("subnormal numbers", small, value=value)
        cut = [complex(-base, 0.0), complex(-base, -0.0)]
        turn = 1j * np.pi * slope
        at = call(make.put(cut, "complex128"))
        yield Convention("both sides of the cut", at, value=[1 + turn, 1 - turn])

    return conventions


def logit_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "gradient",
        "NaN has the slope NaN, which PyTorch's vectors take for one outside, with slope 0",
        call(make.put(np.full(16, np.nan), "float64"), 0.25),
        r"nan at .*PyTorch -?0\.0 ",
    )


def logit_conventions(make: Make) -> Iterator[Convention]:
    inf, nan = np.inf, np.nan
    at = [0.0, 1, -1, 2, 0.5, nan]
    yield Convention(
        "the ends and outside",
        call(make.put(at)),
        value=[-inf, inf, nan, nan, 0, nan],
        gradient=[inf, inf, nan, nan, 4, nan],
    )
    odds = np.log(3)
    yield Convention(
        "kept inside",
        call(make.put([*at, 0.25, 0.75] * 2), 0.25),  # as many as the widest vectors take
        value=[-odds, odds, -odds, odds, 0, nan, -odds, odds] * 2,
        gradient=[0, 0, 0, 0, 4, nan, 16 / 3, 16 / 3] * 2,
        departure="PyTorch's vectors give NaN the slope 0, its single numbers NaN",
    )
    ends = call(make.put([0.0, -0.0, -1, -5e-310]), 0.0)
    yield Convention("an eps of 0", ends, value=[-inf] * 4, gradient=[inf, inf, 0, 0])
    far = call(make.put([0.0, 0.5, 1]), make.put(0.25))
    through = lambda y: y * np.array([1.0, 1, 2])
    gradient = [0, 4, 0], 16 / 3 - 32 / 3
    number = "PyTorch takes no array"
    yield Convention("in eps", far, through=through, gradient=gradient, departure=number)


def logaddexp_conventions(base: float):
    def conventions(make: Make) -> Iterator[Convention]:
        first, second = make.put([1e3, -np.inf, np.inf, 1]), make.put([1e3, 1, -np.inf, 2])
        shares = 1 / (1 + base), base / (1 + base)
        gradient = [0.5, 0, 1, shares[0]], [0.5, 1, 0, shares[1]]
        yield Convention("infinities and far out", call(first, second), gradient=gradient)
        infinite = make.put([np.inf, -np.inf])
        yield Convention(
            "one infinity twice",
            call(infinite, infinite),
            value=[np.inf, -np.inf],
            gradient=([1, 1], [0, 0]),
            departure="PyTorch has no slopes there, but NaN",
        )
        one, bend = make.put(1.0), np.log(base) / 4
        yield Convention("a tie", call(one, one), hessian=[[bend, -bend], [-bend, bend]])

    return conventions


def xlogy_conventions(make: Make) -> Iterator[Convention]:
    x, y = make.put([0.0, 0, np.nan, 0]), make.put([0.0, np.nan, 0, np.inf])
    yield Convention("0 and NaN", call(x, y), value=[0, np.nan, np.nan, 0])
    yield Convention(
        "0 in either place",
        call(make.put([0.0, 2, 2, 0]), make.put([3.0, 3, 0, -1])),
        gradient=([np.log(3), np.log(3), -np.inf, 0], [0, 2 / 3, np.inf, 0]),
    )
    infinite = call(make.put([0.0, np.nan]), make.put([np.inf, 2]))
    gradient = [np.inf, np.log(2)], [0, np.nan]
    yield Convention("infinity and NaN", infinite, gradient=gradient)
    masked = call(make.put([False, True], "bool"), make.put([np.nan, np.e]))
    yield Convention("a mask over NaN", masked, value=[np.nan, 1])
    yield Convention(
        "0 in both",
        call(make.put(0.0), make.put(0.0)),
        gradient=(0, 0),
        departure="PyTorch's gradient of the second is NaN",
    )
    yield Convention(
        "second derivatives at 0", call(make.put(0.0), make.put(2.0)), hessian=[[0, 0.5], [0.5, 0]]
    )


def exp_conventions(make: Make) -> Iterator[Convention]:
    at = call(make.put([np.inf, -np.inf, 1e3, -1e3, np.nan]))
    value = [np.inf, 0, np.inf, 0, np.nan]
    yield Convention("far out", at, value=value, gradient=value)


def of_one(exact: Callable[[Any, Any], Any]) -> tuple[Tail, Tail]:
    """What is exact where the other of two numbers is 0, which comes first or second."""
    first, second = lambda op, x: op(x, 0 * x), lambda op, x: op(0 * x, x)
    return Tail(exact, first, "first"), Tail(exact, second, "second")


ROUNDED_TO_ZERO = Tolerance(
    "at its roots, what halves round to 0 has the sign of a rounding", signed_zeros=False
)
OPS = [
    OpInfo(
        functx.exp,
        unary(),
        reference=np.exp,
        conventions=exp_conventions,
        tails=(Tail(lambda mp, x: mp.exp(x)),),
    ),
    OpInfo(
        functx.log,
        unary(low=0.1),
        reference=quiet(np.log),
        conventions=log_conventions,
        tails=(Tail(lambda mp, x: mp.log(x), low=0),),
    ),
    OpInfo(
        functx.exp2,
        exp2_samples,
        reference=quiet(np.exp2),
        conventions=exp2_conventions,
        tails=(Tail(lambda mp, x: mp.mpf(2) ** x),),
    ),
    OpInfo(
        functx.expm1,
        expm1_samples,
        reference=quiet(np.expm1),
        conventions=expm1_conventions,
        tails=(Tail(lambda mp, x: mp.expm1(x)),),
    ),
    OpInfo(
        functx.log2,
        powers_of(2),
        reference=quiet(np.log2),
        conventions=base_conventions(2),
        tails=(Tail(lambda mp, x: mp.log(x) / mp.log(2), low=0),),
    ),
    OpInfo(
        functx.log10,
        powers_of(10),
        reference=quiet(np.log10),
        conventions=base_conventions(10),
        tails=(Tail(lambda mp, x: mp.log(x) / mp.log(10), low=0),),
    ),
    OpInfo(
        functx.logit,
        logit_samples,
        reference=np_logit,
        refusals=logit_refusals,
        conventions=logit_conventions,
        departures=(logit_departures,),
        tails=(Tail(lambda mp, x: mp.log(x / (1 - x)), low=0, high=1),),
    ),
    OpInfo(
        functx.log1p,
        unary(low=-0.9),
        reference=quiet(scipy.special.log1p),
        conventions=log1p_conventions,
        tails=(Tail(lambda mp, x: mp.log1p(x), low=-1),),
    ),
    OpInfo(
        functx.sigmoid,
        sigmoid_samples,
        reference=np_sigmoid,
        conventions=sigmoid_conventions,
        tails=(Tail(lambda mp, x: 1 / (1 + mp.exp(-x)), order=3),),
    ),
    OpInfo(
        functx.logaddexp,
        logaddexp_samples,
        reference=np_logaddexp,
        refusals=logaddexp_refusals,
        dtypes=Accepts.INEXACT.value,
        tolerances=(AT_ROOTS,),
        conventions=logaddexp_conventions(np.e),
        tails=(*of_one(lambda mp, x: mp.log1p(mp.exp(x))),),
    ),
    OpInfo(
        functx.logaddexp2,
        logaddexp_samples,
        reference=quiet(np.logaddexp2),
        refusals=floating_without_numbers,
        tolerances=(AT_ROOTS, ROUNDED_TO_ZERO),
        dtypes=Accepts.FLOATING.value,
        conventions=logaddexp_conventions(2),
        tails=(*of_one(lambda mp, x: mp.log1p(mp.mpf(2) ** x) / mp.log(2)),),
    ),
    OpInfo(
        functx.xlogy,
        xlogy_samples,
        reference=quiet(scipy.special.xlogy),
        refusals=reals_or_a_number,
        tolerances=(ZERO_TIMES_A_LOGARITHM,),
        conventions=xlogy_conventions,
    ),
]
