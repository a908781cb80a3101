"""Samples of short-time Fourier transforms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import functx
from functx._core import complex_of, real_of
from functx.testing.make import Make
from functx.testing.opinfo import Convention, Departure, FixedSizes, OpInfo, Refusal, Sample
from functx.testing.samples import call
from functx.testing.tolerances import SUMS


def stft_samples(make: Make) -> Iterator[Sample]:
    yes = {"return_complex": True}
    yield call(make(2, 9), 4, 2, window=make(4), **yes)
    yield call(make(7), 4, **yes)
    yield call(make(7), 4, return_complex=False)
    yield call(make(7), n_fft=5, center=False, **yes)
    yield call(make(8), 4, 3, 3, make(3), **yes)
    yield call(make(8), 6, 1, 3, center=False, align_to_window=True, **yes)
    yield call(make(8), 6, 1, 3, center=False, align_to_window=False, **yes)
    yield call(make(6), 4, onesided=False, normalized=True, **yes)
    for mode in ("constant", "replicate", "circular", "reflect"):
        yield call(make(6), 5, 2, pad_mode=mode, **yes)
    yield call(make(6), 4, 2, window=make(4, dtype="float64"), **yes)
    yield call(make(6), 4, 2, window=make(4, dtype="int32"), **yes)
    yield call(make(5), 4, 4, window=make(4, dtype=complex_of(make.dtype)))
    yield call(make(4), 1, 1, **yes)


def stft_refusals(make: Make) -> Iterator[Refusal]:
    x, z = make(8, dtype="float32"), make(8, dtype="complex64")
    yes = {"return_complex": True}
    yield Refusal(call(x, 4), "`return_complex` must be given for real arrays")
    yield Refusal(call(make(2, 2, 8), 4, **yes), "`input` must have 1 or 2 dimensions, got")
    yield Refusal(call(make(), 4, **yes), "`input` must have 1 or 2 dimensions, got")
    yield Refusal(call(x, 0, **yes), "`n_fft` must be positive, got 0")
    yield Refusal(call(x, 9, center=False, **yes), "must not exceed the signal's length 8, got 9")
    yield Refusal(call(x, 3, **yes), "`hop_length` must be positive, got 0")
    yield Refusal(call(x, 4, 0, **yes), "`hop_length` must be positive, got 0")
    yield Refusal(call(x, 4, 1, 5, **yes), r"`win_length` must lie in \[1, 4\], got 5")
    yield Refusal(call(x, 4, 1, 0, **yes), r"`win_length` must lie in \[1, 4\], got 0")
    yield Refusal(call(x, 4, window=make(3), **yes), r"`window` must have the shape \[4\], got")
    yield Refusal(call(x, 4, window=make(1, 4), **yes), r"`window` must have the shape \[4\], got")
    yield Refusal(call(z, 4, onesided=True), "`onesided` must be False where `input` or `window`")
    yield Refusal(call(x, 4, window=z[:4], onesided=True), "`onesided` must be False where")
    yield Refusal(call(x, 16, **yes), "`n_fft` must be at most 15 for a signal of 8 elements")
    yield Refusal(call(x, 18, pad_mode="circular", **yes), "`n_fft` must be at most 17")
    yield Refusal(call(make(0), 2, 1, pad_mode="replicate", **yes), "`n_fft` must be at most 1")
    yield Refusal(
        call(x, 4, pad_mode="edge", **yes), "`pad_mode` must be 'reflect', .*, got 'edge'"
    )
    aligned = call(x, 4, align_to_window=False, **yes)
    yield Refusal(aligned, "`align_to_window` goes with center=False")
    yield Refusal(
        call(make(8, dtype="int32"), 4, **yes), "expected float32, .*, got i32", TypeError
    )


def np_frames(n_fft: int, win_length: Any, window: Any) -> Any:
    """A window as long as a frame."""
    width = n_fft if win_length is None else win_length
    left = (n_fft - width) // 2
    inner = np.ones(width) if window is None else np.asarray(window)
    return np.pad(inner, (left, n_fft - width - left))


def np_stft(
    x,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    hop = n_fft // 4 if hop_length is None else hop_length
    weights = np_frames(n_fft, win_length, window)
    before = after = n_fft // 2 if center else 0
    if align_to_window:
        around = n_fft - win_length
        before, after, pad_mode = around // 2, around - around // 2, "constant"
    names = {"replicate": "edge", "circular": "wrap"}
    around = [(0, 0)] * (np.ndim(x) - 1) + [(before, after)]
    x = np.pad(x, around, names.get(pad_mode, pad_mode))
    if onesided is None:
        onesided = not (np.iscomplexobj(x) or np.iscomplexobj(weights))
    kept = n_fft // 2 + 1 if onesided else n_fft
    starts = range(0, x.shape[-1] - n_fft + 1, hop)
    norm = "ortho" if normalized else None
    frames = [np.fft.fft(x[..., t : t + n_fft] * weights, norm=norm)[..., :kept] for t in starts]
    out = np.stack(frames, -1)
    return np.stack([out.real, out.imag], -1) if return_complex is False else out


def istft_samples(make: Make) -> Iterator[Sample]:
    real = real_of(make.dtype)
    window = lambda n: make(n, low=0.5, high=2, dtype=real)
    yield call(make(2, 3, 4), 4, 2, window=window(4))
    yield call(make(3, 4), 4)
    yield call(make(3, 3), n_fft=5, hop_length=2, center=False)
    yield call(make(3, 4), 4, 2, 3, window(3))
    yield call(make(4, 3), 6, 2, 4)
    yield call(make(4, 3), 4, 1, onesided=False, normalized=True)
    yield call(make(3, 3), 4, 2, onesided=True, length=3)
    yield call(make(3, 3), 4, 2, length=9)
    yield call(make(3, 3), 4, 2, center=False, length=5)
    yield call(make(4, 3), 4, 2, return_complex=True)
    yield call(make(4, 3), 4, 2, window=make(4, low=0.5, high=2), return_complex=True)
    yield call(make(3, 3), 4, 2, window=make(4, low=1, high=2, dtype="float64"))
    yield call(make(3, 3), 4, 2, window=make(4, low=1, high=3, dtype="int32"))
    yield call(make(1, 3), 1, 1, center=False)


def istft_refusals(make: Make) -> Iterator[Refusal]:
    z = make(3, 3)
    yield Refusal(call(make(3, 3, dtype="float32"), 4), "`input` must be complex, got f32")
    yield Refusal(call(make(3), 4), "`input` must have 2 or 3 dimensions, got")
    yield Refusal(call(make(1, 1, 3, 3), 4), "`input` must have 2 or 3 dimensions, got")
    yield Refusal(call(make(0, 3, 3), 4), "`input` must not be empty, got")
    yield Refusal(call(make(3, 0), 4), "`input` must not be empty, got")
    yield Refusal(call(z, 4, 0), r"`hop_length` must lie in \[1, 4\], got 0")
    yield Refusal(call(z, 4, 4, 3), r"`hop_length` must lie in \[1, 3\], got 4")
    yield Refusal(call(z, 4, 2, 5), r"`win_length` must lie in \[1, 4\], got 5")
    yield Refusal(call(z, 7), "`input` must have 4 frequencies, onesided=True, got 3")
    yield Refusal(call(z, 4, onesided=False), "`input` must have 4 frequencies, onesided=False")
    both = call(z, 4, return_complex=True)
    yield Refusal(both, "`onesided` must be False for return_complex=True")
    complex_ = call(z, 4, window=make(4))
    yield Refusal(complex_, "`window` must be real unless return_complex=True, got c")
    yield Refusal(
        call(z, 4, window=make(3, dtype="float32")), r"`window` must have the shape \[4\]"
    )
    yield Refusal(call(z, 4, length=0), "`length` must be positive, got 0")
    yield Refusal(call(make(3, 1), 4), "`input` must have more than one frame")
    for small in (0.0, 1e-6):
        window = make.put(np.full(4, small), "float32")
        yield Refusal(call(z, 4, window=window), "the squares of `window` must overlap everywhere")
    hole = make.put([0, 1, 1, 0], "float32")
    apart = call(z, 4, 4, window=hole, center=False)
    yield Refusal(apart, "the squares of `window` must overlap everywhere, got a sum of 0.0")


def np_istft(
    x,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    hop = n_fft // 4 if hop_length is None else hop_length
    weights = np_frames(n_fft, win_length, window)
    norm = "ortho" if normalized else None
    count = x.shape[-1]
    whole = n_fft + hop * (count - 1)
    total = np.zeros((*x.shape[:-2], whole), complex)
    envelope = np.zeros(whole, complex)
    for t in range(count):
        frame = x[..., t]
        if return_complex:
            back = np.fft.ifft(frame, norm=norm)
        else:
            back = np.fft.irfft(frame[..., : n_fft // 2 + 1], n_fft, norm=norm)
        total[..., t * hop : t * hop + n_fft] += back * weights
        envelope[t * hop : t * hop + n_fft] += weights**2
    start = n_fft // 2 if center else 0
    end = whole - start if length is None else start + length
    out = total[..., start:end] / envelope[start:end]
    if length is not None:
        out = np.pad(out, [(0, 0)] * (out.ndim - 1) + [(0, length - out.shape[-1])])
    return out if return_complex else out.real


def istft_conventions(make: Make) -> Iterator[Convention]:
    x = make(20, dtype="float64")
    window = make(6, low=0.5, high=2, dtype="float64")
    there = functx.stft(x, 6, 3, window=window, return_complex=True)
    back = call(there, 6, 3, window=window, length=20)
    yield Convention("the inverse", back, value=np.asarray(x), floor=1e-14)
    first = there.at[0].add(1j)
    same = call(first, 6, 3, window=window, length=20)
    yield Convention("no signal has it", same, value=np.asarray(x), floor=1e-14)


def stft_departures(make: Make) -> Iterator[Departure]:
    yield Departure(
        "accepted",
        "frames as short as the window are there; PyTorch makes them as long as `n_fft`, and fails",
        call(make(8), 6, 1, 3, center=False, return_complex=True, align_to_window=True),
        "align_to_window=True.*out of bounds for storage",
    )


OPS = [
    OpInfo(
        functx.stft,
        stft_samples,
        np_stft,
        stft_refusals,
        tolerances=(SUMS,),
        departures=(stft_departures,),
    ),
    OpInfo(
        functx.istft,
        istft_samples,
        np_istft,
        istft_refusals,
        conventions=istft_conventions,
        tolerances=(SUMS,),
        dtypes=("complex64", "complex128"),
        fixed_sizes=(
            FixedSizes(
                "input",
                "there are `n_fft` frequencies, or the first half of them, and XLA's transforms "
                "have lengths that are numbers",
                dims=(-2,),
            ),
        ),
    ),
]
