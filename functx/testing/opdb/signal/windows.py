from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.special

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, Gap, OpInfo, Refusal, Sample, Samples
from functx.testing.samples import call, edge
from functx.testing.tolerances import SHARES, SUMS


windows = functx.signal.windows


def lengths(make: Make, **options: Any) -> Iterator[Sample]:
    """Even and odd, symmetric and periodic, short ones and none."""
    yield call(7, dtype=make.dtype, **options)
    yield call(6, sym=False, dtype=make.dtype, **options)
    yield call(6, **options)
    yield call(M=5, sym=False, device="cpu", **options)
    for count in (0, 1, 2):
        yield call(count, dtype=make.dtype, **options)
        yield call(count, sym=False, dtype=make.dtype, **options)


def length_refusals(**options: Any) -> Callable[[Make], Iterator[Refusal]]:
    def refusals(make: Make) -> Iterator[Refusal]:
        yield Refusal(call(-1, **options), "`M` must not be negative, got -1", ValueError)
        yield Refusal(call(2.5, **options), "`M` must be an int, got 2.5", TypeError)
        half = call(3, dtype="float16", **options)
        yield Refusal(half, "`dtype` must be float32 or float64, got float16", TypeError)

    return refusals


def np_window(curve: Callable[..., Any]) -> Callable[..., Any]:
    """A reference: `curve(n, N, **options)` in double precision."""

    def reference(M, sym=True, dtype=None, device=None, **options):
        if M < 2:
            return curve(np.zeros(M) + 0.5, 1, **options) ** 0
        return curve(np.arange(M, dtype=np.float64), M - 1 if sym else M, **options)

    return reference


def np_cosines(n, N, a):
    a = np.asarray(a, np.float64)
    return sum((-1) ** i * w * np.cos(2 * math.pi * i * n / N) for i, w in enumerate(a))


def fixed(*a: float) -> Callable[..., Any]:
    return np_window(lambda n, N: np_cosines(n, N, a))


def np_cosine(M, sym=True, dtype=None, device=None):
    return np.sin(math.pi * (np.arange(M) + 0.5) / (M if sym or M == 1 else M + 1))


def np_exponential(M, center=None, tau=1.0, sym=True, dtype=None, device=None):
    middle = (M - 1 if sym or M == 1 else M) / 2 if center is None else np.float64(center)
    return np.exp(-np.abs(np.arange(M) - middle) / np.float64(tau))


def np_gaussian(M, std=1.0, sym=True, dtype=None, device=None):
    middle = (M - 1 if sym or M == 1 else M) / 2
    return np.exp(-(((np.arange(M) - middle) / np.float64(std)) ** 2) / 2)


def np_kaiser(n, N, beta=12.0):
    beta = np.float64(beta)
    inside = np.sqrt(np.maximum(0, 1 - (2 * n / N - 1) ** 2))
    return scipy.special.i0(beta * inside) / scipy.special.i0(beta)


def given(name: str, *numbers: float) -> Samples:
    """Windows with the option left out, as numbers and as a 0-d array."""

    def samples(make: Make) -> Iterator[Sample]:
        yield call(7, dtype=make.dtype, **{name: make(low=0.5, high=1.5)})
        yield from lengths(make)
        for number in numbers:
            yield call(6, sym=False, dtype=make.dtype, **{name: number})

    return samples


def general_samples(make: Make) -> Iterator[Sample]:
    yield call(7, a=[make(), make(), make()], dtype=make.dtype)
    yield call(4, a=[make(dtype="int32"), 0.5], dtype=make.dtype)
    yield from lengths(make, a=[0.5, 0.25, 0.25])
    yield call(4, a=(1,), dtype=make.dtype)


def general_refusals(make: Make) -> Iterator[Refusal]:
    yield from length_refusals(a=[0.5])(make)
    yield Refusal(call(3, a=[]), "`a` must hold a coefficient, got none", ValueError)
    yield Refusal(call(3, a=0.5), "`a` must be", TypeError)
    yield Refusal(call(3, a=[0.5, 1j]), "`a` must be a real number", TypeError)


def exponential_samples(make: Make) -> Iterator[Sample]:
    yield call(6, center=make(low=2, high=3), tau=make.put(1.7), sym=False, dtype=make.dtype)
    yield call(6, center=1.25, sym=False, dtype=make.dtype)
    yield edge(3, center=make.put(0.0), sym=False, dtype=make.dtype)
    yield from given("tau", 0.5, 3)(make)


def positive_refusals(name: str, *, least: float, said: str) -> Callable[[Make], Iterator[Refusal]]:
    def refusals(make: Make) -> Iterator[Refusal]:
        yield from length_refusals()(make)
        yield Refusal(call(3, **{name: least}), f"`{name}` must {said}, got", ValueError)
        yield Refusal(call(3, **{name: 1j}), f"`{name}` must be a real number", TypeError)
        yield Refusal(call(3, **{name: make(2)}), f"`{name}` must be a real number", TypeError)

    return refusals


def exponential_refusals(make: Make) -> Iterator[Refusal]:
    yield from positive_refusals("tau", least=0.0, said="be positive")(make)
    yield Refusal(call(3, center=1.0), "`center` goes with sym=False", ValueError)


def exponential_conventions(make: Make) -> Iterator[Convention]:
    at = call(3, center=make.put(0.0), sym=False, dtype="float64")
    yield Convention(
        "at the center", at, value=np.exp([0, -1, -2]), through=lambda w: w[0], gradient=0
    )


def unlooked(at: Sample, match: str) -> Departure:
    reason = "an array is no number, also where none is looked at"
    return Departure("refused", reason, at, match)


def exponential_departures(make: Make) -> Iterator[Departure]:
    at = call(0, center=make.mask(2), sym=False)
    yield unlooked(at, r"exponential\(0, center=")


def hamming_departures(make: Make) -> Iterator[Departure]:
    at = call(1, alpha=make(2, 3, dtype="complex64"))
    yield unlooked(at, r"general_hamming\([01], alpha=.*a 0-d array, got")
    yield Departure(
        "accepted",
        "a bool is a number here as elsewhere; PyTorch subtracts it from 1",
        call(7, alpha=make.put(True, bool), dtype="float64"),
        "with a bool tensor is not supported",
    )
    yield Departure(
        "value",
        "the rounded cosine of a right angle, times an infinite coefficient, has either sign",
        call(4, alpha=-np.inf, sym=False, dtype="float64"),
        r"alpha=-?inf",
    )


def gaussian_conventions(make: Make) -> Iterator[Convention]:
    nan = call(3, std=np.nan, dtype="float64")
    yield Convention("NaN", nan, value=[np.nan] * 3)


def kaiser_conventions(make: Make) -> Iterator[Convention]:
    flat = call(4, beta=make.put(0.0), dtype="float64")
    yield Convention("no beta", flat, value=np.ones(4), gradient=0)
    yield Convention("no beta, as a bool", call(4, beta=False, dtype="float64"), value=np.ones(4))
    narrow = call(3, beta=1e4, dtype="float64")
    nan = call(3, beta=np.nan, dtype="float64")
    yield Convention("NaN", nan, value=[np.nan] * 3)
    yield Convention("a large beta", narrow, value=[0, 1, 0], departure="PyTorch overflows")


def plain(op: Any, reference: Callable[..., Any]) -> OpInfo:
    return OpInfo(
        op, lengths, reference=reference, refusals=length_refusals(), tolerances=(SHARES,)
    )


OPS = [
    plain(windows.bartlett, np_window(lambda n, N: 1 - np.abs(2 * n / N - 1))),
    plain(windows.hann, fixed(0.5, 0.5)),
    plain(windows.hamming, fixed(0.54, 0.46)),
    plain(windows.blackman, fixed(0.42, 0.5, 0.08)),
    plain(windows.nuttall, fixed(0.3635819, 0.4891775, 0.1365995, 0.0106411)),
    plain(windows.cosine, np_cosine),
    OpInfo(
        windows.general_cosine,
        general_samples,
        reference=np_window(np_cosines),
        refusals=general_refusals,
        tolerances=(SUMS,),
    ),
    OpInfo(
        windows.general_hamming,
        given("alpha", 0.3, 1),
        reference=np_window(
            lambda n, N, alpha=0.54: np_cosines(n, N, (alpha, 1 - np.float64(alpha)))
        ),
        refusals=length_refusals(),
        departures=(hamming_departures,),
        tolerances=(SUMS,),
    ),
    OpInfo(
        windows.exponential,
        exponential_samples,
        reference=np_exponential,
        refusals=exponential_refusals,
        conventions=exponential_conventions,
        departures=(exponential_departures,),
    ),
    OpInfo(
        windows.gaussian,
        given("std", 0.5, 3),
        reference=np_gaussian,
        refusals=positive_refusals("std", least=0.0, said="be positive"),
        conventions=gaussian_conventions,
        gaps=(Gap("limits", "`std` must be positive, and is 0 there"),),
    ),
    OpInfo(
        windows.kaiser,
        given("beta", 0, 8.6),
        reference=np_window(np_kaiser),
        refusals=positive_refusals("beta", least=-1.0, said="not be negative"),
        tolerances=(SUMS,),
        conventions=kaiser_conventions,
    ),
]
