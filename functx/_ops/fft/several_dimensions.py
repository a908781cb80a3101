"""Discrete Fourier transforms along several dimensions.

Those with a 2 in their names transform the last two dimensions unless told otherwise; those with
an n all, or of the last as many as `s` has lengths.
"""

from __future__ import annotations

from typing import TypeAlias

from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    canonical_dims,
    describe,
    operator,
    Promote,
    refuse,
    Shape,
)

from .discrete import fourier, half_fourier, real_fourier, Signal, signal_of


__all__ = [
    "fft2",
    "fftn",
    "hfft2",
    "hfftn",
    "ifft2",
    "ifftn",
    "ihfft2",
    "ihfftn",
    "irfft2",
    "irfftn",
    "rfft2",
    "rfftn",
]


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def fftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""Fourier transform along several dimensions: `fft` along each of them.

    - `s`: lengths of the signal, which is cut or filled up with zeros at its ends; -1 leaves one.
    - `dim`: by default all dimensions, or as many of the last as `s` has lengths.
    - `norm`: `"backward"` (the default) does not scale, `"ortho"` divides by $\sqrt n$ of the $n$
      elements, `"forward"` by $n$.

    Dtypes: complex.

    >>> functx.fft.fftn(jnp.ones((2, 2), "float32"))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return fourier(input, _signal(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def fft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    """Fourier transform of images: `fftn` along two dimensions, the last by default.

    `s` and `norm` are those of `fftn`. Dtypes: complex.

    >>> functx.fft.fft2(jnp.eye(2, dtype="float32"))
    Array([[2.+0.j, 0.+0.j],
           [0.+0.j, 2.+0.j]], dtype=complex64)
    """
    return fourier(input, _signal(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def ifftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""Inverse of `fftn`: `ifft` along each of several dimensions.

    - `s`: lengths of the signal, which is cut or filled up with zeros at its ends; -1 leaves one.
    - `dim`: by default all dimensions, or as many of the last as `s` has lengths.
    - `norm`: `"backward"` (the default) divides by the number $n$ of elements, `"ortho"` by
      $\sqrt n$, `"forward"` does not scale.

    Dtypes: complex.

    >>> functx.fft.ifftn(jnp.asarray([[4.0, 0.0], [0.0, 0.0]], "float32"))
    Array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]], dtype=complex64)
    """
    return fourier(input, _signal(input, s, dim), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def ifft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    """Inverse of `fft2`: `ifftn` along two dimensions, the last by default.

    `s` and `norm` are those of `ifftn`. Dtypes: complex.

    >>> functx.fft.ifft2(jnp.asarray([[2.0, 0.0], [0.0, 2.0]], "float32"))
    Array([[1.+0.j, 0.+0.j],
           [0.+0.j, 1.+0.j]], dtype=complex64)
    """
    return fourier(input, _signal(input, s, dim), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL)
def rfftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""Fourier transform of a real signal: the half of `fftn` that determines the rest.

    - `s`: lengths of the signal, which is cut or filled up with zeros at its ends; -1 leaves one.
    - `dim`: by default all dimensions, or as many of the last as `s` has lengths. Of the last one
      named, the first n // 2 + 1 frequencies are kept.
    - `norm`: `"backward"` (the default) does not scale, `"ortho"` divides by $\sqrt n$ of the $n$
      elements, `"forward"` by $n$.

    Dtypes: real in, complex out.

    >>> functx.fft.rfftn(jnp.ones((2, 2), "float32"))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return half_fourier(input, _some(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL)
def rfft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    """Fourier transform of real images: `rfftn` along two dimensions, the last by default.

    `s` and `norm` are those of `rfftn`. Dtypes: real in, complex out.

    >>> functx.fft.rfft2(jnp.ones((2, 3), "float32")).shape
    (2, 2)
    """
    return half_fourier(input, _some(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def irfftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""Inverse of `rfftn`: a real signal from half of its Fourier transform.

    - `s`: lengths of the result, -1 for the default: the input's, and 2 (m - 1) in the last
      dimension. The input is cut or filled up with zeros to them, in the last dimension to
      n // 2 + 1. Odd last lengths must be given.
    - `dim`: by default all dimensions, or as many of the last as `s` has lengths.
    - `norm`: `"backward"` (the default) divides by the number $n$ of elements, `"ortho"` by
      $\sqrt n$, `"forward"` does not scale.

    Dtypes: real. What no transform of a real signal holds is ignored.

    >>> functx.fft.irfftn(jnp.asarray([[4.0, 0.0], [0.0, 0.0]], "float32"))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return real_fourier(input, _half(input, s, dim), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def irfft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    """Inverse of `rfft2`: `irfftn` along two dimensions, the last by default.

    `s` and `norm` are those of `irfftn`. Dtypes: real.

    >>> functx.fft.irfft2(jnp.ones((2, 2), "float32"), s=(2, 3)).shape
    (2, 3)
    """
    return real_fourier(input, _half(input, s, dim), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def hfftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""Fourier transform of a signal with $x_{-k} = \bar x_k$, from its half: a real result.

    `hfft` along the last dimension, `fft` along the others.

    - `s`: lengths of the result, -1 for the default: the input's, and 2 (m - 1) in the last
      dimension. The input is cut or filled up with zeros to them, in the last dimension to
      n // 2 + 1. Odd last lengths must be given.
    - `dim`: by default all dimensions, or as many of the last as `s` has lengths.
    - `norm`: `"backward"` (the default) does not scale, `"ortho"` divides by $\sqrt n$ of the $n$
      elements, `"forward"` by $n$.

    Dtypes: real. What no such signal holds is ignored.

    >>> functx.fft.hfftn(jnp.asarray([[1.0, 0.0], [0.0, 0.0]], "float32"))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return real_fourier(input, _half(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def hfft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    """Fourier transform of half images: `hfftn` along two dimensions, the last by default.

    `s` and `norm` are those of `hfftn`. Dtypes: real.

    >>> functx.fft.hfft2(jnp.ones((2, 2), "float32"), s=(2, 3)).shape
    (2, 3)
    """
    return real_fourier(input, _half(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL)
def ihfftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""Inverse of `hfftn`: half of the signal, from its real Fourier transform.

    - `s`: lengths of the transform, which is cut or filled up with zeros at its ends; -1 leaves
      one.
    - `dim`: by default all dimensions, or as many of the last as `s` has lengths. Of the last one
      named, the first n // 2 + 1 elements are kept.
    - `norm`: `"backward"` (the default) divides by the number $n$ of elements, `"ortho"` by
      $\sqrt n$, `"forward"` does not scale.

    Dtypes: real in, complex out.

    >>> functx.fft.ihfftn(jnp.asarray([[4.0, 0.0], [0.0, 0.0]], "float32"))
    Array([[1.-0.j, 1.-0.j],
           [1.-0.j, 1.-0.j]], dtype=complex64)
    """
    return half_fourier(input, _some(input, s, dim), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL)
def ihfft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    """Inverse of `hfft2`: `ihfftn` along two dimensions, the last by default.

    `s` and `norm` are those of `ihfftn`. Dtypes: real in, complex out.

    >>> functx.fft.ihfft2(jnp.ones((2, 3), "float32")).shape
    (2, 2)
    """
    return half_fourier(input, _some(input, s, dim), norm, inverse=True)


OptionalInts: TypeAlias = tuple[int, ...] | None


def _some(input: Array, s: OptionalInts, dim: OptionalInts, *, from_half: bool = False) -> Signal:
    dims = _dims(input, s, dim)
    if not dims:
        refuse(f"`dim` must name at least 1 dimension, got {dim} for {describe(input)}")
    lengths = [None if n == -1 else n for n in s or [-1] * len(dims)]
    return signal_of(input, dims, lengths, "s", from_half=from_half)


def _half(input: Array, s: OptionalInts, dim: OptionalInts) -> Signal:
    return _some(input, s, dim, from_half=True)


def _signal(input: Array, s: OptionalInts, dim: OptionalInts) -> Signal:
    return _some(input, s, dim) if _dims(input, s, dim) else Signal((), ())


def _dims(input: Array, s: OptionalInts, dim: OptionalInts) -> tuple[int, ...]:
    if dim is None:
        count = input.ndim if s is None else len(s)
        if count > input.ndim:
            refuse(f"`s` must have at most {input.ndim} lengths for {describe(input)}, got {s}")
        return tuple(range(input.ndim - count, input.ndim))
    if dim and not input.ndim:
        refuse(f"`dim` must be left out for {describe(input)}, got {dim}", error=IndexError)
    dims = canonical_dims(dim, input.ndim)
    assert dims is not None
    if s is not None and len(s) != len(dims):
        refuse(f"`s` and `dim` must have the same length, got {s} and {dim}")
    return dims
