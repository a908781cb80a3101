"""Discrete Fourier transforms along one dimension."""

from __future__ import annotations

from jax import Array

from functx._core import Accepts, ArrayLike, Autocast, describe, Dim, operator, Promote, refuse

from .discrete import fourier, half_fourier, real_fourier, Signal, signal_of


__all__ = ["fft", "hfft", "ifft", "ihfft", "irfft", "rfft"]


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE, autocast_cpu=Autocast.FLOAT32)
def fft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Fourier transform: $y_j = \sum_k x_k\, e^{-2 \pi i j k / n}$.

    - `input`: the signal $x$, floating, complex or of integers.
    - `n`: the length of the signal, which is cut or filled up with zeros at its end. None is the
      size of `dim`.
    - `dim`: the dimension of the signal.
    - `norm`: `"backward"`, which None means too, does not scale, `"ortho"` divides by $\sqrt n$,
      `"forward"` by $n$.

    Shapes: `[..., m, ...] -> [..., n, ...]`.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for an `n` below 1 and another `norm`, TypeError for halves, IndexError if
    `input` does not have `dim`.

    >>> functx.fft.fft(jnp.asarray([1.0, 1.0], "float32"))
    Array([2.+0.j, 0.+0.j], dtype=complex64)
    """
    return fourier(input, _along(input, dim, n), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE, autocast_cpu=Autocast.FLOAT32)
def ifft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Inverse Fourier transform: $y_j = \tfrac1n \sum_k x_k\, e^{2 \pi i j k / n}$.

    - `input`: the transform $x$, floating, complex or of integers.
    - `n`: the length of the transform, which is cut or filled up with zeros at its end. None is the
      size of `dim`.
    - `dim`: the dimension of the transform.
    - `norm`: `"backward"`, which None means too, divides by $n$, `"ortho"` by $\sqrt n$,
      `"forward"` does not scale.

    Shapes: `[..., m, ...] -> [..., n, ...]`.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for an `n` below 1 and another `norm`, TypeError for halves, IndexError if
    `input` does not have `dim`.

    >>> functx.fft.ifft(jnp.asarray([2.0, 0.0], "float32"))
    Array([1.+0.j, 1.+0.j], dtype=complex64)
    """
    return fourier(input, _along(input, dim, n), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL, autocast_cpu=Autocast.FLOAT32)
def rfft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Fourier transform of a real signal: its first half, which determines the other half.

    $y_j = \sum_k x_k\, e^{-2 \pi i j k / n}$ for $j \le n / 2$; all other
    $y_j = \overline{y_{n - j}}$.

    - `input`: the signal $x$, floating or of integers.
    - `n`: the length of the signal, which is cut or filled up with zeros at its end. None is the
      size of `dim`.
    - `dim`: the dimension of the signal.
    - `norm`: `"backward"`, which None means too, does not scale, `"ortho"` divides by $\sqrt n$,
      `"forward"` by $n$.

    Shapes: `[..., m, ...] -> [..., n // 2 + 1, ...]`.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for an `n` below 1 and another `norm`, TypeError for halves and complex
    arrays, IndexError if `input` does not have `dim`.

    >>> functx.fft.rfft(jnp.asarray([1.0, 1.0], "float32"))
    Array([2.+0.j, 0.+0.j], dtype=complex64)
    """
    return half_fourier(input, _along(input, dim, n), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE, autocast_cpu=Autocast.FLOAT32)
def irfft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Inverse of `rfft`: the real signal whose Fourier transform has the given first half.

    $y_j = \tfrac1n \sum_k x_k\, e^{2 \pi i j k / n}$, with $x_k = \overline{x_{n - k}}$ for
    $k > n / 2$.

    - `input`: the first half $x$ of the transform. Its imaginary parts at frequency 0 and, for even
      $n$, at the last one are ignored: no real signal has them.
    - `n`: the length of the result. None is 2 (m - 1), so odd lengths must be given. `input` is cut
      or filled up with zeros to n // 2 + 1.
    - `dim`: the dimension of the transform.
    - `norm`: `"backward"`, which None means too, divides by $n$, `"ortho"` by $\sqrt n$,
      `"forward"` does not scale.

    Shapes: `[..., m, ...] -> [..., n, ...]`.
    Dtypes: real, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for an `n` below 1 and another `norm`, TypeError for halves, IndexError if
    `input` does not have `dim`.

    >>> functx.fft.irfft(jnp.asarray([2.0, 0.0], "float32"))
    Array([1., 1.], dtype=float32)
    """
    return real_fourier(input, _along(input, dim, n, from_half=True), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE, autocast_cpu=Autocast.FLOAT32)
def hfft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Fourier transform of a signal with $x_{-k} = \overline{x_k}$, from its half: a real result.

    $y_j = \sum_k x_k\, e^{-2 \pi i j k / n}$, with $x_k = \overline{x_{n - k}}$ for $k > n / 2$.

    - `input`: the first half $x$ of the signal. Imaginary parts of its first element and, for even
      $n$, of its last one are ignored: no such signal has them.
    - `n`: the length of the result. None is 2 (m - 1), so odd lengths must be given. `input` is cut
      or filled up with zeros to n // 2 + 1.
    - `dim`: the dimension of the signal.
    - `norm`: `"backward"`, which None means too, does not scale, `"ortho"` divides by $\sqrt n$,
      `"forward"` by $n$.

    Shapes: `[..., m, ...] -> [..., n, ...]`.
    Dtypes: real, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for an `n` below 1 and another `norm`, TypeError for halves, IndexError if
    `input` does not have `dim`.

    >>> functx.fft.hfft(jnp.asarray([1.0, 1.0], "float32"))
    Array([2., 0.], dtype=float32)
    """
    return real_fourier(input, _along(input, dim, n, from_half=True), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL, autocast_cpu=Autocast.FLOAT32)
def ihfft(input: ArrayLike, n: int | None = None, dim: Dim = -1, norm: str | None = None) -> Array:
    r"""Inverse of `hfft`: half of a signal with $x_{-k} = \overline{x_k}$, from its transform.

    $y_j = \tfrac1n \sum_k x_k\, e^{2 \pi i j k / n}$ for $j \le n / 2$.

    - `input`: the transform $x$, floating or of integers.
    - `n`: the length of the transform, which is cut or filled up with zeros at its end. None is the
      size of `dim`.
    - `dim`: the dimension of the transform.
    - `norm`: `"backward"`, which None means too, divides by $n$, `"ortho"` by $\sqrt n$,
      `"forward"` does not scale.

    Shapes: `[..., m, ...] -> [..., n // 2 + 1, ...]`.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for an `n` below 1 and another `norm`, TypeError for halves and complex
    arrays, IndexError if `input` does not have `dim`.

    >>> functx.fft.ihfft(jnp.asarray([2.0, 0.0], "float32"))
    Array([1.-0.j, 1.-0.j], dtype=complex64)
    """
    return half_fourier(input, _along(input, dim, n), norm, inverse=True)


def _along(input: Array, dim: int, n: int | None, *, from_half: bool = False) -> Signal:
    """The signal of length `n` along `dim`; refuses a 0-d array."""
    if input.ndim == 0:
        refuse(f"`input` must have at least 1 dimension, got {describe(input)}", error=IndexError)
    return signal_of(input, [dim], [n], "n", from_half=from_half)
