"""Lengths, norms and XLA's transforms, for Fourier transforms along any dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from functx._core import accumulator, category, complex_of, default_float, refuse


_MOST = 3  # dimensions that XLA transforms at once
_DIVIDED = ("ifft", "irfft")  # by XLA, by the number of elements


class Signal(NamedTuple):
    """The dimensions along which a transform runs, and the length of the signal in each."""

    dims: tuple[int, ...]
    lengths: tuple[int, ...]


def signal_of(
    input: Array,
    dims: Sequence[int],
    lengths: Sequence[int | None],
    name: str,
    *,
    from_half: bool = False,
) -> Signal:
    """The signal in `input`, whose sizes are the lengths that None leaves out.

    With `from_half`, `input` is half a transform, and its last length is 2 (m - 1) if left out.
    Errors call the lengths `name`.
    """
    own = [input.shape[dim] for dim in dims]
    if from_half:
        own[-1] = 2 * (own[-1] - 1)
    chosen = [n if given is None else given for n, given in zip(own, lengths, strict=True)]
    for n in chosen:
        if n < 1:
            refuse(f"the length of the signal, `{name}`, must be at least 1, got {n}")
    return Signal(tuple(dims), tuple(chosen))


def fourier(x: Array, signal: Signal, norm: str | None, *, inverse: bool) -> Array:
    """The transform of any signal, or its inverse."""
    return _transformed("ifft" if inverse else "fft", _complex(x), signal, norm, inverse=inverse)


def half_fourier(x: Array, signal: Signal, norm: str | None, *, inverse: bool) -> Array:
    """The half of a real signal's transform that determines the other half."""
    out = _transformed("rfft", _floating(x), signal, norm, inverse=inverse)
    return lax.conj(out) if inverse else out


def real_fourier(x: Array, signal: Signal, norm: str | None, *, inverse: bool) -> Array:
    """The real transform of the signal whose half `x` is."""
    x = _complex(x) if inverse else lax.conj(_complex(x))
    return _transformed("irfft", x, signal, norm, inverse=inverse)


def _floating(x: Array) -> Array:
    """`x` in a floating or complex dtype, which for integers is the default one."""
    if category(x.dtype) > 1:
        return x
    dtype = default_float()
    if accumulator(dtype) != dtype:
        refuse(
            f"integers would be transformed in the default dtype, which must not be {dtype.name}",
            hint="x.astype(functx.float32)",
            error=TypeError,
        )
    return lax.convert_element_type(x, dtype)


def _complex(x: Array) -> Array:
    """`x` in the complex dtype of its precision."""
    return lax.convert_element_type(_floating(x), complex_of(_floating(x).dtype))


def _transformed(kind: str, x: Array, signal: Signal, norm: str | None, *, inverse: bool) -> Array:
    """`lax.fft` of one kind along dimensions of a signal, cut or filled up, scaled by `norm`."""
    dims, lengths = signal
    scale = _scale(norm, math.prod(lengths), inverse=inverse)
    if kind in _DIVIDED:
        scale *= math.prod(lengths)
    widths = [*lengths[:-1], lengths[-1] // 2 + 1] if kind == "irfft" else lengths
    cut = [(0, 0, 0)] * x.ndim
    for dim, width in zip(dims, widths, strict=True):
        cut[dim] = (0, width - x.shape[dim], 0)
    x = lax.pad(x, jnp.zeros((), x.dtype), cut)
    whole = "ifft" if kind in _DIVIDED else "fft"
    rest = range(0, len(dims) - _MOST, _MOST)
    steps = [(kind, slice(-_MOST, None))]
    steps += [(whole, slice(k, min(k + _MOST, len(dims) - _MOST))) for k in rest]
    for each, part in steps if kind != "irfft" else reversed(steps):
        if dims[part]:
            places = range(-len(dims[part]), 0)
            x = lax.fft(jnp.moveaxis(x, dims[part], places), each, lengths[part])
            x = jnp.moveaxis(x, places, dims[part])
    return x if scale == 1 else x * scale


def _scale(norm: str | None, n: int, *, inverse: bool) -> float:
    """The factor that `norm` asks for."""
    if norm == "ortho":
        return 1 / math.sqrt(n)
    if norm not in (None, "backward", "forward"):
        refuse(f"`norm` must be 'backward', 'ortho' or 'forward', got {norm!r}")
    return 1 / n if (norm == "forward") != inverse else 1.0
