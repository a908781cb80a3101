"""Discrete Fourier transforms of one dimension."""

from __future__ import annotations

from jax import Array

from functx._core import Accepts, ArrayLike, describe, Dim, operator, Promote, refuse

from .discrete import fourier, half_fourier, real_fourier, Signal, signal_of


__all__ = ["fft", "hfft", "ifft", "ihfft", "irfft", "rfft"]


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
    return fourier(input, _along(input, dim, n), norm, inverse=False)


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
    return fourier(input, _along(input, dim, n), norm, inverse=True)


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
    return half_fourier(input, _along(input, dim, n), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
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
    return real_fourier(input, _along(input, dim, n, from_half=True), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def hfft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Fourier transform of a signal with $x_{-k} = \bar x_k$, from its half: a real result.

    - `n`: length of the result, by default 2 (m - 1); the input is cut or filled up with zeros
      to n // 2 + 1. Odd lengths must be given.
    - `norm`: `"backward"` (the default) does not scale, `"ortho"` divides by $\sqrt n$,
      `"forward"` by $n$.

    Shapes: `[..., m, ...] -> [..., n, ...]`. Dtypes: real. Imaginary parts that no such signal
    has, of the first element and for even n of the last, are ignored.

    >>> functx.fft.hfft(jnp.asarray([1.0, 1.0], "float32"))
    Array([2., 0.], dtype=float32)
    """
    return real_fourier(input, _along(input, dim, n, from_half=True), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL)
def ihfft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Inverse of `hfft`: half of the signal, from its real Fourier transform.

    - `n`: length of the transform, which is cut or filled up with zeros at its end.
    - `norm`: `"backward"` (the default) divides by $n$, `"ortho"` by $\sqrt n$, `"forward"` does
      not scale.

    Shapes: `[..., m, ...] -> [..., n // 2 + 1, ...]`. Dtypes: real in, complex out.

    >>> functx.fft.ihfft(jnp.asarray([2.0, 0.0], "float32"))
    Array([1.-0.j, 1.-0.j], dtype=complex64)
    """
    return half_fourier(input, _along(input, dim, n), norm, inverse=True)


def _along(input: Array, dim: int, n: int | None, *, from_half: bool = False) -> Signal:
    if input.ndim == 0:
        refuse(f"`input` must have at least 1 dimension, got {describe(input)}", error=IndexError)
    return signal_of(input, [dim], [n], "n", from_half=from_half)
