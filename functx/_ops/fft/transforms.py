"""Discrete Fourier transforms of one dimension."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    category,
    complex_of,
    DEFAULT_FLOAT,
    describe,
    Dim,
    operator,
    Promote,
    refuse,
)


__all__ = ["fft", "ifft", "irfft", "rfft"]


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def fft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Fourier transform: $y_j = \sum_k x_k\, e^{-2 \pi i j k / n}$.

    - `n`: length of the signal, which is cut or filled up with zeros at its end.
    - `norm`: `"backward"` (the default) does not scale, `"ortho"` divides by $\sqrt n$,
      `"forward"` by $n$.

    Shapes: `[..., m, ...] -> [..., n, ...]`. Dtypes: complex.

    >>> functx.fft.fft(jnp.asarray([1.0, 1.0], "float32"))
    Array([2.+0.j, 0.+0.j], dtype=complex64)
    """
    n = _length(input, dim, n)
    return _transformed("fft", _complex(input), n, dim, _scale(norm, n, inverse=False))


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def ifft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Inverse Fourier transform: $y_j = \tfrac1n \sum_k x_k\, e^{2 \pi i j k / n}$.

    - `n`: length of the signal, which is cut or filled up with zeros at its end.
    - `norm`: `"backward"` (the default) divides by $n$, `"ortho"` by $\sqrt n$, `"forward"` does
      not scale.

    Shapes: `[..., m, ...] -> [..., n, ...]`. Dtypes: complex.

    >>> functx.fft.ifft(jnp.asarray([2.0, 0.0], "float32"))
    Array([1.+0.j, 1.+0.j], dtype=complex64)
    """
    n = _length(input, dim, n)
    return _transformed("ifft", _complex(input), n, dim, n * _scale(norm, n, inverse=True))


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL)
def rfft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Fourier transform of a real signal: the half of `fft` that determines the rest.

    - `n`: length of the signal, which is cut or filled up with zeros at its end.
    - `norm`: `"backward"` (the default) does not scale, `"ortho"` divides by $\sqrt n$,
      `"forward"` by $n$.

    Shapes: `[..., m, ...] -> [..., n // 2 + 1, ...]`. Dtypes: real in, complex out.

    >>> functx.fft.rfft(jnp.asarray([1.0, 1.0], "float32"))
    Array([2.+0.j, 0.+0.j], dtype=complex64)
    """
    n = _length(input, dim, n)
    return _transformed("rfft", _floating(input), n, dim, _scale(norm, n, inverse=False))


@operator(promote=Promote.INT_TO_FLOAT_COMPLEX_TO_FLOAT, accepts=Accepts.WHOLE)
def irfft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Inverse of `rfft`: a real signal from half of its Fourier transform.

    - `n`: length of the result, by default 2 (m - 1); the input is cut or filled up with zeros
      to n // 2 + 1. Odd lengths must be given.
    - `norm`: `"backward"` (the default) divides by $n$, `"ortho"` by $\sqrt n$, `"forward"` does
      not scale.

    Shapes: `[..., m, ...] -> [..., n, ...]`. Dtypes: real. Imaginary parts that no real signal
    has, at frequency 0 and for even n at the last, are ignored.

    >>> functx.fft.irfft(jnp.asarray([2.0, 0.0], "float32"))
    Array([1., 1.], dtype=float32)
    """
    n = _length(input, dim, n, from_half=True)
    return _transformed("irfft", _complex(input), n, dim, n * _scale(norm, n, inverse=True))


def _length(input: Array, dim: int, n: int | None, *, from_half: bool = False) -> int:
    if input.ndim == 0:
        refuse(f"`input` must have at least 1 dimension, got {describe(input)}", error=IndexError)
    if n is None:
        n = 2 * (input.shape[dim] - 1) if from_half else input.shape[dim]
    if n < 1:
        refuse(f"the length of the signal, `n`, must be at least 1, got {n}")
    return n


def _scale(norm: str | None, n: int, *, inverse: bool) -> float:
    if norm == "ortho":
        return 1 / math.sqrt(n)
    if norm not in (None, "backward", "forward"):
        refuse(f"`norm` must be 'backward', 'ortho' or 'forward', got {norm!r}")
    return 1 / n if (norm == "forward") != inverse else 1.0


def _floating(x: Array) -> Array:
    return lax.convert_element_type(x, DEFAULT_FLOAT) if category(x.dtype) < 2 else x


def _complex(x: Array) -> Array:
    return lax.convert_element_type(_floating(x), complex_of(_floating(x).dtype))


def _transformed(kind: str, x: Array, n: int, dim: int, scale: float) -> Array:
    """`lax.fft` along `dim`, whose inverse kinds divide by `n`; then scaled."""
    width = n // 2 + 1 if kind == "irfft" else n
    x = jnp.moveaxis(x, dim, -1)
    x = lax.pad(
        x, jnp.zeros((), x.dtype), [(0, 0, 0)] * (x.ndim - 1) + [(0, width - x.shape[-1], 0)]
    )
    out = lax.fft(x, kind, (n,))
    return jnp.moveaxis(out if scale == 1 else out * scale, -1, dim)
