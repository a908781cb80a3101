"""Samples of discrete Fourier transforms of one dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import functx
from functx.testing.make import Make
from functx.testing.opinfo import FixedSizes, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def samples(make: Make) -> Iterator[Sample]:
    yield call(make(2, 4))
    yield call(make(3, 2), 5, dim=0, norm="ortho")
    yield call(make(5), n=3, norm="forward")
    yield call(make(2, 3), 4, -1, "backward")
    yield call(make(1), 2)
    yield call(make(0, 3), n=2)


def refusals(make: Make) -> Iterator[Refusal]:
    x = make(2, 3)
    yield Refusal(call(x, 0), "must be at least 1, got 0")
    yield Refusal(call(x, -1), "must be at least 1, got -1")
    yield Refusal(call(make(2, 0)), "must be at least 1, got")
    yield Refusal(call(make()), "`input` must have at least 1 dimension", IndexError)
    yield Refusal(call(x, dim=5), r"`dim` must lie in \[-2, 1\], got 5", IndexError)
    yield Refusal(call(x, norm="x"), "`norm` must be 'backward', 'ortho' or 'forward'")
    yield Refusal(call(make(2, dtype="float16")), "expected bool, .*, got f16", TypeError)


def real_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    yield Refusal(
        call(make(3, dtype="complex64")), "expected bool, .*, float32 or float64 arrays", TypeError
    )


def half_refusals(make: Make) -> Iterator[Refusal]:
    yield from refusals(make)
    yield Refusal(call(make(1)), "must be at least 1, got 0")


def like(transform: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's, with PyTorch's names."""

    def reference(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        return transform(input, n, dim, norm)

    return reference


LENGTH = (
    FixedSizes(
        "input",
        "XLA's transforms have a length that is a number",
        along="dim",
        unless="n",
    ),
)

OPS = [
    OpInfo(
        functx.fft.fft, samples, like(np.fft.fft), refusals, tolerances=(SUMS,), fixed_sizes=LENGTH
    ),
    OpInfo(
        functx.fft.ifft,
        samples,
        like(np.fft.ifft),
        refusals,
        tolerances=(SUMS,),
        fixed_sizes=LENGTH,
    ),
    OpInfo(
        functx.fft.rfft,
        samples,
        like(np.fft.rfft),
        real_refusals,
        tolerances=(SUMS,),
        fixed_sizes=LENGTH,
    ),
    OpInfo(
        functx.fft.irfft,
        samples,
        like(np.fft.irfft),
        half_refusals,
        tolerances=(SUMS,),
        fixed_sizes=LENGTH,
    ),
    OpInfo(
        functx.fft.hfft,
        samples,
        like(np.fft.hfft),
        half_refusals,
        tolerances=(SUMS,),
        fixed_sizes=LENGTH,
    ),
    OpInfo(
        functx.fft.ihfft,
        samples,
        like(np.fft.ihfft),
        real_refusals,
        tolerances=(SUMS,),
        fixed_sizes=LENGTH,
    ),
]
