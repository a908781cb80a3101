"""Samples of the frequencies of Fourier transforms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, OpInfo, Refusal, Sample
from functx.testing.samples import call


def samples(make: Make) -> Iterator[Sample]:
    yield call(5, make(low=0.5, high=3), dtype=make.dtype)
    yield call(6, -0.5, dtype=make.dtype)
    yield call(4)
    yield call(n=1, d=2)
    yield call(3, make.put(2, "int32"), device="cpu")


def refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(-1), "`n` must not be negative, got -1")
    yield Refusal(call(2.5), "`n` must be an int, got 2.5", TypeError)
    yield Refusal(call(3, 1j), r"`d` must be a real number or 0-d, got c", TypeError)
    yield Refusal(call(3, make(2)), r"`d` must be a real number or 0-d, got", TypeError)
    yield Refusal(call(3, dtype="int64"), "`dtype` must be floating, got int64", TypeError)


def np_fftfreq(n, d=1.0, dtype=None, device=None):
    return np.asarray([k if k < (n + 1) // 2 else k - n for k in range(n)]) / (n * np.float64(d))


def np_rfftfreq(n, d=1.0, dtype=None, device=None):
    return np.arange(n // 2 + 1) / (n * np.float64(d))


def fftfreq_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("of no element", call(0), value=[])
    yield Convention("no distance", call(3, 0.0), value=[np.nan, np.inf, -np.inf])
    departure = "PyTorch's distance has no gradient"
    at = call(4, make.put(2.0), dtype="float64")
    yield Convention("has a gradient in the distance", at, gradient=1 / 8, departure=departure)


def rfftfreq_conventions(make: Make) -> Iterator[Convention]:
    yield Convention("of no element", call(0), value=[np.nan])
    departure = "PyTorch's distance has no gradient"
    at = call(4, make.put(2.0), dtype="float64")
    yield Convention("has a gradient in the distance", at, gradient=-3 / 16, departure=departure)


def rfftfreq_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "refused",
        "no number of samples is negative, also where half of it is -1",
        call(-2),
        "`n` must not be negative, got -",
    )


OPS = [
    OpInfo(functx.fft.fftfreq, samples, np_fftfreq, refusals, conventions=fftfreq_conventions),
    OpInfo(
        functx.fft.rfftfreq,
        samples,
        np_rfftfreq,
        refusals,
        conventions=rfftfreq_conventions,
        departures=(rfftfreq_departures,),
    ),
]
