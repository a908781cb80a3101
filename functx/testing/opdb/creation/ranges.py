from __future__ import annotations

import math
from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

import functx
from functx._core import real_of
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call


def arange_samples(make: Make) -> Iterator[Sample]:
    yield call(5, dtype=make.dtype)
    yield call(1, 8, 3, dtype=make.dtype)
    yield call(4)
    yield call(0.5, 2, step=0.25)
    yield call(start=7, end=0, step=-2, dtype=make.dtype)
    yield call(3, 3)
    yield call(0, end=1, step=0.1, device="cpu")
    yield call(True, 3)


def arange_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(0, 3, 0), r"`step` must not be zero, got 0 for int64")
    yield Refusal(call(0, 3, 0.5, dtype="int64"), r"`step` must not be zero, got 0 for int64")
    yield Refusal(call(0, -3, 2), r"`step` must lead from `start` to `end`, got 0, -3 and 2")
    yield Refusal(call(0, float("inf")), r"`end` must be finite, got inf")
    yield Refusal(call(0, 2**70, 2**69), "`end` must fit int64, the widest", OverflowError)
    yield Refusal(call(3j), r"`end` must be a real number", TypeError)
    yield Refusal(call(jnp.ones(2)), r"`end` must be a real number, got f", TypeError)
    yield Refusal(call(3, dtype="bool"), r"`dtype` must be integer or floating", TypeError)
    yield Refusal(call(), r"`end` must be given", TypeError)


def np_arange(start=0, end=None, step=1, dtype=None, device=None):
    return np.arange(start, step=step) if end is None else np.arange(start, end, step)


def linspace_samples(make: Make) -> Iterator[Sample]:
    yield call(make(), make(), 5, dtype=make.dtype)
    yield call(0, 10, 4, dtype=make.dtype)
    yield call(make(dtype="int32"), 2, steps=3)
    yield call(1, -2.5, 2)
    yield call(3, 9, 1, dtype=make.dtype)
    yield call(0, 1, 0)
    yield call(start=0, end=1, steps=2, device="cpu")
    yield call(1j, 2, 3)


def logspace_samples(make: Make) -> Iterator[Sample]:
    within = lambda: make(low=0, high=2)
    yield call(within(), within(), 5, dtype=make.dtype)
    yield call(0, 2, 4, dtype=make.dtype)
    base = make(low=2, high=3, dtype=real_of(make.dtype))
    yield call(make.put(1, "int32"), 2, steps=3, base=base, dtype=make.dtype)
    yield call(1, -2.5, 2, 3)
    yield call(1.5, 2, 1, dtype=make.dtype)
    yield call(0, 1, 0)
    yield call(0, 4, 5, base=-2.0, dtype=make.dtype if make.dtype.kind != "u" else "int32")
    yield call(start=0, end=1, steps=2, device="cpu")
    yield call(1j, 2, 3, base=0.5)


def linspace_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(0, 1, -1), r"`steps` must not be negative, got \[-1\]")
    yield Refusal(call(0, 1, 3.0), r"`steps` must be an int, got 3.0", TypeError)
    yield Refusal(call(make(2), 1, 3), r"`start` must be a number or 0-d, got \S+\[2\]")
    yield Refusal(call(0, 1j, 3, dtype="float32"), r"`dtype` must be complex", TypeError)
    yield Refusal(call(0, 1, 3, dtype="bool"), r"`dtype` must be a number dtype", TypeError)
    yield Refusal(call(0, 300, 3, dtype="uint8"), r"`end` must fit uint8, got 300")
    yield Refusal(call(0, 2**70, 3), "`end` must fit int64, the widest", OverflowError)


def logspace_refusals(make: Make) -> Iterator[Refusal]:
    yield from linspace_refusals(make)
    message = "`base` must be a real number or 0-d, got"
    for base in (2j, make(2)):
        yield Refusal(call(0, 1, 3, base=base), message, TypeError)


def np_linspace(start, end, steps, dtype=None, device=None):
    start, end = (np.asarray(x, np.result_type(x, np.float64)) for x in (start, end))
    step, i = (end - start) / max(steps - 1, 1), np.arange(steps)
    return np.where(i < steps / 2, start + i * step, end - (steps - 1 - i) * step)


def np_logspace(start, end, steps, base=10.0, dtype=None, device=None):
    integral = dtype is not None and np.dtype(dtype).kind in "iu" and steps > 1
    start, end = (np.trunc(x) if integral else x for x in (start, end))
    exponents = np_linspace(start, end, steps)
    powers = np.power(np.asarray(base, exponents.dtype), exponents)
    return powers[:steps]


def arange_conventions(make: Make) -> Iterator[Convention]:
    for args, dtype, value in [
        ((0.5, 5, 1.5), "int64", [0, 1, 2, 3, 4]),
        ((0, 6, 2.9), "int64", [0, 2, 4]),
        ((-3, 3, 2), "uint8", [253, 255, 1]),
        ((1, 2, 0.3), "int32", [1, 1, 1, 1]),
        ((3, 3, 0.1), "int8", []),
    ]:
        what = f"{dtype} counts in integers from {args[0]}"
        yield Convention(what, call(*args, dtype=dtype), value=value)
    for none in (call(3, None), call(3, end=None)):
        what = f"None for `end`, {len(none.args)} by position"
        yield Convention(what, none, value=[0, 1, 2])


def linspace_conventions(make: Make) -> Iterator[Convention]:
    for args, dtype, value in [
        ((0.5, 3.5, 4), "int64", [0, 1, 2, 3]),
        ((3, -2, 4), "int32", [3, 1, 0, -2]),
    ]:
        what = f"{dtype} from {args[0]}"
        yield Convention(what, call(*args, dtype=dtype), value=value)
    for steps in (2, 3, 7, 10):
        exact = lambda y: (y[0] == 0.1) & (y[-1] == 0.7)
        ends = call(0.1, 0.7, steps, dtype="float64")
        yield Convention(f"the ends of {steps} are exact", ends, holds=exact)
    ends = call(make.put(0.0), make.put(1.0), 5, dtype="float64")
    departure = "PyTorch's ends have no gradient"
    what = "has gradients in its ends"
    yield Convention(what, ends, gradient=(2.5, 2.5), departure=departure)


def logspace_conventions(make: Make) -> Iterator[Convention]:
    for args, dtype, value in [
        ((0.5, 3.5, 4), "int64", [1, 10, 100, 1000]),
        ((2.5, 3, 1), "int32", [316]),
        ((3, 0, 4), "uint8", [232, 100, 10, 1]),
        ((-1, 1, 3), "int16", [0, 1, 10]),
        ((0, 12, 3), "int32", [1, 10**6, -(2**31)]),
        ((0, 12, 3), "uint8", [1, 64, 0]),
    ]:
        what = f"{dtype} from {args[0]}"
        yield Convention(what, call(*args, dtype=dtype), value=value)
    fractions = call(0, 1, 3, base=-2.0)
    yield Convention("a root of a negative base", fractions, value=[1, np.nan, -2])
    yield Convention("a base of 0", call(-1, 1, 3, base=0.0), value=[np.inf, 1, 0])
    departure = "PyTorch's ends and base have no gradient"
    given = call(make.put(0.0), make.put(2.0), 3, make.put(3.0), dtype="float64")
    log = np.log(3)
    gradient = (1 + 1.5) * log, (1.5 + 9) * log, 1 + 6
    what = "has gradients in its ends and its base"
    yield Convention(what, given, gradient=gradient, departure=departure)
    one = make.put(1.0)
    tied = call(one, one, 3, make.put(2.0), dtype="float64")
    gradient = 3 * np.log(2), 3 * np.log(2), 3
    yield Convention("equal ends", tied, gradient=gradient, departure=departure)
    start = call(make.put(0.0), 0.0, 1, make.put(0.0), dtype="float64")
    yield Convention("a power of 0 to 0", start, gradient=(0, 0), departure=departure)


def arange_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "`start` is 0 also where `step` is given by name",
        call(end=3, step=2),
        "invalid combination of arguments",
    )
    yield Departure(
        "refused",
        "an infinite step leaves the first element alone, and PyTorch none",
        call(1, 3, math.inf),
        "`step` must be finite, got -?inf",
    )


def spaced_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "what is too large for the dtype is infinite, as in a conversion",
        call(make.put(1e300, "float64"), 2, 3),
        "without overflow",
    )


OPS = [
    OpInfo(
        functx.arange,
        arange_samples,
        reference=np_arange,
        refusals=arange_refusals,
        conventions=arange_conventions,
        departures=(arange_departures,),
    ),
    OpInfo(
        functx.linspace,
        linspace_samples,
        reference=np_linspace,
        refusals=linspace_refusals,
        conventions=linspace_conventions,
        departures=(spaced_departures,),
    ),
    OpInfo(
        functx.logspace,
        logspace_samples,
        reference=np_logspace,
        refusals=logspace_refusals,
        conventions=logspace_conventions,
        departures=(spaced_departures,),
    ),
]
