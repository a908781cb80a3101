"""Short-time Fourier transforms of a signal's overlapping frames, and their inverse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.core import min_dim

from functx._core import (
    Accepts,
    ArrayOnly,
    Autocast,
    category,
    complex_of,
    decided,
    describe,
    operator,
    Promote,
    real_of,
    refuse,
    Requirement,
    UnpromotedArray,
)
from functx._core.numbers.promotion import joined


__all__ = ["istft", "stft"]

_LEAST_ENVELOPE = 1e-11  # below it PyTorch takes squares of windows for zero


class _Frames(NamedTuple):
    """Frames of `length` elements, `hop` elements apart, under a window of `width` elements."""

    length: int
    hop: int
    width: int


@operator(name="stft", promote=Promote.NONE, accepts=Accepts.LAPACK, autocast_cpu=Autocast.FLOAT32)
def stft(
    input: ArrayOnly,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: UnpromotedArray | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Array:
    r"""Fourier transforms of frames: $y_{j t} = \sum_k w_k\, x_{t h + k}\, e^{-2 \pi i j k / n}$.

    - `input`: the signal $x$, floating or complex.
    - `n_fft`: $n$, the length of a frame.
    - `hop_length`: $h$, the distance of two frames. None is `n_fft // 4`.
    - `win_length`: the length of the window, at most `n_fft`, which None means.
    - `window`: $w$, a vector of `win_length` elements, filled up with zeros on both sides to
      `n_fft`. None is ones.
    - `center`: whether frame $t$ is centered at $t h$, in a signal that is first padded by
      `n_fft // 2` on both sides. If not, frame $t$ begins at $t h$.
    - `pad_mode`: how `center` pads: `"reflect"`, `"constant"`, `"replicate"` or `"circular"`.
    - `normalized`: whether to divide by $\sqrt n$.
    - `onesided`: whether to return the first `n_fft // 2 + 1` frequencies alone, which determine
      the others. None is True where `input` and `window` are real; complex arrays take False.
    - `return_complex`: must be given for real arrays. False gives real and imaginary parts in a
      last dimension of 2.
    - `align_to_window`: whether without `center` the window of frame $t$ begins at $t h$, rather
      than the frame. None is False.

    Shapes: `[..., length] -> [..., frequencies, frames]`, with at most one dimension before them.
    Dtypes: the complex form of the dtype to which `input` and `window` promote.
    Errors: RuntimeError for lengths that do not fit each other, for frames longer than the signal,
    and for options that exclude each other; TypeError for halves and integers.

    >>> x = jnp.asarray([1.0, 2.0, 3.0, 4.0], "float32")
    >>> functx.stft(x, 2, 2, center=False, return_complex=True).real
    Array([[ 3.,  7.],
           [-1., -1.]], dtype=float32)
    """
    if input.ndim not in (1, 2):
        refuse(f"`input` must have 1 or 2 dimensions, got {describe(input)}")
    if n_fft <= 0:
        refuse(f"`n_fft` must be positive, got {n_fft}")
    frames = _frames(n_fft, hop_length, win_length)
    if frames.hop <= 0:
        refuse(f"`hop_length` must be positive, got {frames.hop}")
    dtype, window = _windowed(input.dtype, window, frames)
    is_complex = category(dtype) == 3
    if return_complex is None and not is_complex:
        refuse("`return_complex` must be given for real arrays", hint="return_complex=True")
    onesided = not is_complex if onesided is None else onesided
    if onesided and is_complex:
        refuse("`onesided` must be False where `input` or `window` is complex")

    x = input
    if center:
        if align_to_window is not None:
            refuse("`align_to_window` goes with center=False")
        x = _padded(x, n_fft // 2, n_fft // 2, pad_mode)
    elif align_to_window:
        around = n_fft - frames.width
        x = _padded(x, around // 2, around - around // 2, "constant")
    if n_fft > x.shape[-1]:
        refuse(f"`n_fft` must not exceed the signal's length {x.shape[-1]}, got {n_fft}")
    count = 1 + (x.shape[-1] - n_fft) // frames.hop
    x = x[..., _places(count, frames)].astype(dtype)
    if window is not None:
        x = x * window
    if onesided:
        out = lax.fft(x, "rfft", (n_fft,))
    else:
        out = lax.fft(lax.convert_element_type(x, complex_of(dtype)), "fft", (n_fft,))
    if normalized:
        out = out * (1 / math.sqrt(n_fft))
    out = jnp.swapaxes(out, -1, -2)
    if return_complex is False:
        return jnp.stack([lax.real(out), lax.imag(out)], -1)
    return out


def _envelope_is_positive(*, window: Any, input: Any, **given: Any) -> Iterator[Requirement]:
    if window is None and not given["center"] and given["length"] is None:
        return
    frames = _frames(given["n_fft"], given["hop_length"], given["win_length"])
    if not _fits_together(input, frames):
        return
    own = input.dtype if given["return_complex"] else real_of(input.dtype)
    _, weights = _windowed(own, window, frames)
    envelope = jnp.abs(_envelope(input, weights, frames, given["center"], given["length"]))
    said = "the squares of `window` must overlap everywhere, got a sum of {got}"
    hint = "shorter hops, or another window"
    yield Requirement(~(envelope < _LEAST_ENVELOPE), said, got=envelope, hint=hint)


@operator(
    name="istft", promote=Promote.NONE, accepts=Accepts.LAPACK, requires=_envelope_is_positive
)
def istft(
    input: ArrayOnly,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: UnpromotedArray | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Array:
    r"""The signal whose `stft` with the same options is nearest: the inverse of `stft`.

    Frames are transformed back, multiplied by the window and added, and the sum is divided by the
    sum of the squared windows (Griffin and Lim, "Signal estimation from modified short-time Fourier
    transform", 1984).

    - `input`: transforms of frames, complex.
    - `n_fft`: $n$, the length of a frame.
    - `hop_length`: the distance of two frames. None is `n_fft // 4`.
    - `win_length`: the length of the window, at most `n_fft`, which None means.
    - `window`: a vector of `win_length` elements, filled up with zeros on both sides to `n_fft`.
      None is ones.
    - `center`: whether frame $t$ was centered at $t$ times `hop_length`. If not, it began there.
    - `normalized`: whether the transforms were divided by $\sqrt n$.
    - `onesided`: whether `input` holds the `n_fft // 2 + 1` frequencies of a real signal. None asks
      whether it does not hold `n_fft`.
    - `length`: the length of the result, which is cut or filled up with zeros at its end. None ends
      it where the last frame ends, or `n_fft // 2` elements before with `center`.
    - `return_complex`: whether the signal is complex, for which `input` must hold all frequencies.

    Shapes: `[..., frequencies, frames] -> [..., length]`, with at most one dimension before them.
    Dtypes: real, or complex with `return_complex`, as precise as the dtype to which `input` and
    `window` promote.
    Errors: RuntimeError for an `input` that is not complex, for lengths that do not fit each other,
    for options that exclude each other, and where the sum of the squared windows is below 1e-11.

    >>> x = jnp.asarray([1.0, 2.0, 3.0, 4.0], "float32")
    >>> back = functx.istft(functx.stft(x, 2, 1, return_complex=True), 2, 1)
    >>> back.shape, bool(abs(back - x).max() < 1e-5)
    ((4,), True)
    """
    if category(input.dtype) != 3:
        hint = "functx.complex and functx.view_as_complex make complex arrays of real ones"
        refuse(f"`input` must be complex, got {describe(input)}", hint=hint)
    if input.ndim not in (2, 3):
        refuse(f"`input` must have 2 or 3 dimensions, got {describe(input)}")
    if not input.size:
        refuse(f"`input` must not be empty, got {describe(input)}")
    frames = _frames(n_fft, hop_length, win_length)
    if not 0 < frames.hop <= frames.width:
        refuse(f"`hop_length` must lie in [1, {frames.width}], got {frames.hop}")
    frequencies = input.shape[-2]
    onesided = frequencies != n_fft if onesided is None else onesided
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if frequencies != wanted:
        refuse(f"`input` must have {wanted} frequencies, onesided={onesided}, got {frequencies}")
    if onesided and return_complex:
        refuse("`onesided` must be False for return_complex=True")
    own = input.dtype if return_complex else real_of(input.dtype)
    dtype, weights = _windowed(own, window, frames)
    if category(dtype) == 3 and not return_complex:
        refuse(f"`window` must be real unless return_complex=True, got {describe(window)}")

    x = jnp.swapaxes(input, -1, -2).astype(complex_of(dtype))
    if return_complex:
        x = lax.fft(x, "ifft", (n_fft,))
    else:
        x = lax.fft(x[..., : n_fft // 2 + 1], "irfft", (n_fft,))
    if normalized:
        x = x * math.sqrt(n_fft)
    if weights is not None:
        x = x * weights
    envelope = _envelope(input, weights, frames, center, length).astype(dtype)
    start = n_fft // 2 if center else 0
    out = _overlapped(x, frames)[..., start : start + envelope.shape[0]] / envelope
    missing = 0 if length is None else length - envelope.shape[0]
    return jnp.pad(out, [*[(0, 0)] * (out.ndim - 1), (0, missing)])


def _frames(n_fft: int, hop_length: int | None, win_length: int | None) -> _Frames:
    """The frames that the options describe; refuses a window longer than a frame."""
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if not 0 < width <= n_fft:
        refuse(f"`win_length` must lie in [1, {n_fft}], got {width}")
    return _Frames(n_fft, hop, width)


def _windowed(dtype: np.dtype, window: Any, frames: _Frames) -> tuple[np.dtype, Array | None]:
    """The dtype to which a window and an array promote, and the window in it, as long as a frame.

    The window is None where all its elements are 1.
    """
    around = frames.length - frames.width
    left = around // 2
    if window is not None:
        window = jnp.asarray(window)
        if window.shape != (frames.width,):
            refuse(f"`window` must have the shape [{frames.width}], got {describe(window)}")
        dtype = joined([dtype, window.dtype])
    elif not around:
        return dtype, None
    else:
        window = jnp.ones(frames.width, dtype)
    window = lax.convert_element_type(window, dtype)
    return dtype, jnp.pad(window, (left, around - left))


def _padded(x: Array, before: int, after: int, mode: str) -> Array:
    """The signal padded at both ends."""
    n = x.shape[-1]
    if mode == "constant":
        return jnp.pad(x, [*[(0, 0)] * (x.ndim - 1), (before, after)])
    most = {"reflect": n - 1, "circular": n, "replicate": before if n else 0}.get(mode)
    if most is None:
        modes = "'reflect', 'constant', 'replicate' or 'circular'"
        refuse(f"`pad_mode` must be {modes}, got {mode!r}")
    if before > most:
        refuse(
            f"`n_fft` must be at most {2 * max(most, 0) + 1} for a signal of {n} elements and "
            f"pad_mode={mode!r}, got {2 * before} or more"
        )
    at = lax.iota(np.int32, before + n + after) - before
    if mode == "reflect":
        at = (n - 1) - jnp.abs((n - 1) - jnp.abs(at))
    elif mode == "replicate":
        at = jnp.clip(at, 0, n - 1)
    else:
        at = at % max(n, 1)
    return jnp.take(x, at, -1, mode="clip")


def _places(count: int, frames: _Frames) -> Array:
    """The positions of the elements of `count` frames in the signal: `[count, length]`."""
    starts = lax.iota(np.int32, count) * frames.hop
    return starts[:, None] + lax.iota(np.int32, frames.length)


def _overlapped(x: Array, frames: _Frames) -> Array:
    """The sum of frames, `[..., count, length]`, each in its place in the signal."""
    count = x.shape[-2]
    whole = frames.length + frames.hop * (count - 1)
    return jnp.zeros((*x.shape[:-2], whole), x.dtype).at[..., _places(count, frames)].add(x)


def _fits_together(input: Array, frames: _Frames) -> bool:
    """Whether transforms and frames fit, so that an envelope exists."""
    return input.ndim in (2, 3) and input.size > 0 and 0 < frames.hop <= frames.width


def _envelope(
    input: Array, window: Array | None, frames: _Frames, center: bool, length: int | None
) -> Array:
    """The sum of the squared windows, over the part of the signal that is the result."""
    count = input.shape[-1]
    whole = frames.length + frames.hop * (count - 1)
    start = frames.length // 2 if center else 0
    end = whole - start if length is None else min_dim(start + length, whole)
    if length is not None and length < 1:
        refuse(f"`length` must be positive, got {length}")
    if decided(lambda: end <= start, otherwise=False):
        refuse(f"`input` must have more than one frame where `length` is left out, got {count}")
    ones = jnp.ones(frames.length, real_of(input.dtype))
    square = ones if window is None else window * window
    each = jnp.broadcast_to(square, (count, frames.length))
    return _overlapped(each, frames)[start:end]
