from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.signal

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SHARES, SUMS


def lengths(make: Make) -> Iterator[Sample]:
    """Even and odd, periodic and symmetric, short ones and none."""
    yield call(7, dtype=make.dtype)
    yield call(6, False, dtype=make.dtype)
    yield call(6, True)
    yield call(window_length=5, periodic=False, device="cpu")
    for count in (0, 1, 2):
        yield call(count, dtype=make.dtype)
        yield call(count, False, dtype=make.dtype)


def refusals(make: Make) -> Iterator[Refusal]:
    negative = "`window_length` must not be negative, got -1"
    yield Refusal(call(-1), negative, ValueError)
    yield Refusal(call(2.5), "`window_length` must be an int, got 2.5", TypeError)
    for dtype in ("int32", "complex64"):
        words = f"`dtype` must be float16 or .*, got {dtype}"
        yield Refusal(call(3, dtype=dtype), words, TypeError)


def number_refusals(name: str) -> Callable[[Make], Iterator[Refusal]]:
    def also(make: Make) -> Iterator[Refusal]:
        yield from refusals(make)
        words = f"`{name}` must be a real number or a 0-d array"
        yield Refusal(call(3, True, **{name: 1j}), words, TypeError)
        yield Refusal(call(3, True, **{name: make(2)}), words, TypeError)

    return also


def of_scipy(name: Any, count: int, periodic: bool) -> np.ndarray:
    return scipy.signal.get_window(name, count, periodic) if count else np.zeros(0)


def scipys(name: str) -> Callable[..., Any]:
    """SciPy's window of that name, in double precision."""

    def reference(window_length, periodic=True, dtype=None, device=None):
        return of_scipy(name, window_length, periodic)

    return reference


def hamming_samples(make: Make) -> Iterator[Sample]:
    yield call(7, True, make(), make(), dtype=make.dtype)
    yield from lengths(make)
    yield call(6, False, 0.3, dtype=make.dtype)
    yield call(5, True, alpha=1, beta=0.25, dtype=make.dtype)
    yield call(1, True, make(), make(), dtype=make.dtype)


def np_hamming(window_length, periodic=True, alpha=0.54, beta=0.46, dtype=None, device=None):
    hann = of_scipy("hann", window_length, periodic)
    if window_length < 2:
        return hann
    alpha, beta = np.float64(alpha), np.float64(beta)
    return alpha - beta * (1 - 2 * hann)


def kaiser_samples(make: Make) -> Iterator[Sample]:
    yield call(7, True, make(low=0.5, high=1.5), dtype=make.dtype)
    yield from lengths(make)
    yield call(6, False, 8.6, dtype=make.dtype)
    yield call(5, True, beta=make(low=-4, high=-2), dtype=make.dtype)
    yield call(6, True, 0, dtype=make.dtype)


def np_kaiser(window_length, periodic=True, beta=12.0, dtype=None, device=None):
    return of_scipy(("kaiser", np.float64(beta)), window_length, periodic)


def kaiser_conventions(make: Make) -> Iterator[Convention]:
    flat = call(4, True, make.put(0.0), dtype="float64")
    yield Convention(
        "no beta",
        flat,
        value=np.ones(4),
        gradient=0,
        departure="PyTorch takes no array for it",
    )
    nan = call(3, True, np.nan, dtype="float64")
    yield Convention("NaN", nan, value=[np.nan] * 3)
    narrow = call(4, True, 1e4, dtype="float64")
    yield Convention("a large beta", narrow, value=[0, 0, 1, 0], departure="PyTorch overflows")


def short_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "windows are real, also those of no element or one",
        call(1, dtype="complex64"),
        r"_window\([01]\b.*`dtype` must be",
    )


def plain(op: Any, name: str) -> OpInfo:
    return OpInfo(
        op,
        lengths,
        reference=scipys(name),
        refusals=refusals,
        tolerances=(SHARES,),
        departures=(short_departures,),
    )


OPS = [
    plain(functx.bartlett_window, "bartlett"),
    plain(functx.hann_window, "hann"),
    plain(functx.blackman_window, "blackman"),
    OpInfo(
        functx.hamming_window,
        hamming_samples,
        reference=np_hamming,
        refusals=number_refusals("alpha"),
        tolerances=(SUMS,),
        departures=(short_departures,),
    ),
    OpInfo(
        functx.kaiser_window,
        kaiser_samples,
        reference=np_kaiser,
        refusals=number_refusals("beta"),
        conventions=kaiser_conventions,
        tolerances=(SUMS,),
        departures=(short_departures,),
    ),
]
