"""Discrete Fourier transforms along several dimensions.

Functions with a 2 in their names transform the last two dimensions by default; functions with an n
transform all dimensions, or as many of the last ones as `s` has lengths.
"""

from __future__ import annotations

from typing import TypeAlias

from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
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


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE, autocast_cpu=Autocast.FLOAT32)
def fftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""Fourier transform along several dimensions: `fft` along each of them.

    - `input`: the signal, floating, complex or of integers.
    - `s`: the lengths of the signal, which is cut or filled up with zeros at its ends. -1 leaves a
      length, and None all.
    - `dim`: the dimensions. None is all, or the last ones, as many as `s` has lengths.
    - `norm`: `"backward"`, which None means too, does not scale, `"ortho"` divides by $\sqrt n$ for
      $n$ elements, `"forward"` by $n$.

    Shapes: `[..., m1, m2] -> [..., s1, s2]` for two dimensions.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves; IndexError
    for dimensions that `input` does not have.

    >>> functx.fft.fftn(jnp.ones((2, 2), "float32"))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return fourier(input, _signal(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE, autocast_cpu=Autocast.FLOAT32)
def fft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    r"""Fourier transform of images: `fft` along two dimensions.

    - `input`: the images, floating, complex or of integers.
    - `s`: the two lengths of an image, which is cut or filled up with zeros at its ends. -1 leaves
      a length, and None both.
    - `dim`: the two dimensions of an image, by default the last ones.
    - `norm`: `"backward"`, which None means too, does not scale, `"ortho"` divides by $\sqrt n$ for
      $n$ elements, `"forward"` by $n$.

    Shapes: `[..., m1, m2] -> [..., s1, s2]`.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves; IndexError
    for dimensions that `input` does not have.

    >>> functx.fft.fft2(jnp.eye(2, dtype="float32"))
    Array([[2.+0.j, 0.+0.j],
           [0.+0.j, 2.+0.j]], dtype=complex64)
    """
    return fourier(input, _signal(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE, autocast_cpu=Autocast.FLOAT32)
def ifftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""Inverse of `fftn`: `ifft` along each of several dimensions.

    - `input`: the transform, floating, complex or of integers.
    - `s`: the lengths of the transform, which is cut or filled up with zeros at its ends. -1 leaves
      a length, and None all.
    - `dim`: the dimensions. None is all, or the last ones, as many as `s` has lengths.
    - `norm`: `"backward"`, which None means too, divides by the number $n$ of elements, `"ortho"`
      by $\sqrt n$, `"forward"` does not scale.

    Shapes: `[..., m1, m2] -> [..., s1, s2]` for two dimensions.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves; IndexError
    for dimensions that `input` does not have.

    >>> functx.fft.ifftn(jnp.asarray([[4.0, 0.0], [0.0, 0.0]], "float32"))
    Array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]], dtype=complex64)
    """
    return fourier(input, _signal(input, s, dim), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE, autocast_cpu=Autocast.FLOAT32)
def ifft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    r"""Inverse of `fft2`: `ifft` along two dimensions.

    - `input`: the transforms of images, floating, complex or of integers.
    - `s`: the two lengths of a transform, which is cut or filled up with zeros at its ends. -1
      leaves a length, and None both.
    - `dim`: the two dimensions of a transform, by default the last ones.
    - `norm`: `"backward"`, which None means too, divides by the number $n$ of elements, `"ortho"`
      by $\sqrt n$, `"forward"` does not scale.

    Shapes: `[..., m1, m2] -> [..., s1, s2]`.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves; IndexError
    for dimensions that `input` does not have.

    >>> functx.fft.ifft2(jnp.asarray([[2.0, 0.0], [0.0, 2.0]], "float32"))
    Array([[1.+0.j, 0.+0.j],
           [0.+0.j, 1.+0.j]], dtype=complex64)
    """
    return fourier(input, _signal(input, s, dim), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL, autocast_cpu=Autocast.FLOAT32)
def rfftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""The first half of the Fourier transform of a real signal, along several dimensions.

    `rfft` along the last of the dimensions, `fft` along the others.

    - `input`: the signal, floating or of integers.
    - `s`: the lengths of the signal, which is cut or filled up with zeros at its ends. -1 leaves a
      length, and None all.
    - `dim`: the dimensions. None is all, or the last ones, as many as `s` has lengths.
    - `norm`: `"backward"`, which None means too, does not scale, `"ortho"` divides by $\sqrt n$ for
      $n$ elements, `"forward"` by $n$.

    Shapes: `[..., m1, m2] -> [..., s1, s2 // 2 + 1]` for two dimensions.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves and complex
    arrays; IndexError for dimensions that `input` does not have.

    >>> functx.fft.rfftn(jnp.ones((2, 2), "float32"))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return half_fourier(input, _some(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL, autocast_cpu=Autocast.FLOAT32)
def rfft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    r"""The first half of the Fourier transform of real images, along two dimensions.

    `rfft` along the second of the dimensions, `fft` along the first.

    - `input`: the images, floating or of integers.
    - `s`: the two lengths of an image, which is cut or filled up with zeros at its ends. -1 leaves
      a length, and None both.
    - `dim`: the two dimensions of an image, by default the last ones.
    - `norm`: `"backward"`, which None means too, does not scale, `"ortho"` divides by $\sqrt n$ for
      $n$ elements, `"forward"` by $n$.

    Shapes: `[..., m1, m2] -> [..., s1, s2 // 2 + 1]`.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves and complex
    arrays; IndexError for dimensions that `input` does not have.

    >>> functx.fft.rfft2(jnp.ones((2, 3), "float32")).shape
    (2, 2)
    """
    return half_fourier(input, _some(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE, autocast_cpu=Autocast.FLOAT32)
def irfftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""Inverse of `rfftn`: a real signal from half of its Fourier transform.

    `ifft` along all dimensions but the last one, then `irfft` along that one.

    - `input`: half of the transform. Parts of it that no transform of a real signal has are
      ignored.
    - `s`: the lengths of the result. -1 is the default, as None is for all: the size of `input`,
      and 2 (m - 1) in the last dimension, so odd last lengths must be given. `input` is cut or
      filled up with zeros to these lengths, in the last dimension to n // 2 + 1.
    - `dim`: the dimensions. None is all, or the last ones, as many as `s` has lengths.
    - `norm`: `"backward"`, which None means too, divides by the number $n$ of elements of the
      result, `"ortho"` by $\sqrt n$, `"forward"` does not scale.

    Shapes: `[..., m1, m2] -> [..., s1, s2]` for two dimensions.
    Dtypes: real, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves; IndexError
    for dimensions that `input` does not have.

    >>> functx.fft.irfftn(jnp.asarray([[4.0, 0.0], [0.0, 0.0]], "float32"))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return real_fourier(input, _half(input, s, dim), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE, autocast_cpu=Autocast.FLOAT32)
def irfft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    r"""Inverse of `rfft2`: real images from halves of their Fourier transforms.

    `ifft` along the first of two dimensions, then `irfft` along the second.

    - `input`: halves of transforms. Parts that no transform of a real image has are ignored.
    - `s`: the two lengths of an image. -1 is the default, as None is for both: the size of `input`,
      and 2 (m - 1) in the last dimension, so odd last lengths must be given. `input` is cut or
      filled up with zeros to these lengths, in the last dimension to n // 2 + 1.
    - `dim`: the two dimensions of a transform, by default the last ones.
    - `norm`: `"backward"`, which None means too, divides by the number $n$ of elements of an image,
      `"ortho"` by $\sqrt n$, `"forward"` does not scale.

    Shapes: `[..., m1, m2] -> [..., s1, s2]`.
    Dtypes: real, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves; IndexError
    for dimensions that `input` does not have.

    >>> functx.fft.irfft2(jnp.ones((2, 2), "float32"), s=(2, 3)).shape
    (2, 3)
    """
    return real_fourier(input, _half(input, s, dim), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def hfftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""Fourier transform of a signal with $x_{-k} = \overline{x_k}$, from its half: a real result.

    `fft` along all dimensions but the last one, then `hfft` along that one.

    - `input`: half of the signal. Parts of it that no such signal has are ignored.
    - `s`: the lengths of the result. -1 is the default, as None is for all: the size of `input`,
      and 2 (m - 1) in the last dimension, so odd last lengths must be given. `input` is cut or
      filled up with zeros to these lengths, in the last dimension to n // 2 + 1.
    - `dim`: the dimensions. None is all, or the last ones, as many as `s` has lengths.
    - `norm`: `"backward"`, which None means too, does not scale, `"ortho"` divides by $\sqrt n$ for
      $n$ elements of the result, `"forward"` by $n$.

    Shapes: `[..., m1, m2] -> [..., s1, s2]` for two dimensions.
    Dtypes: real, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves; IndexError
    for dimensions that `input` does not have.

    >>> functx.fft.hfftn(jnp.asarray([[1.0, 0.0], [0.0, 0.0]], "float32"))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return real_fourier(input, _half(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE)
def hfft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    r"""Fourier transform of images with $x_{-k} = \overline{x_k}$, from halves: a real result.

    `fft` along the first of two dimensions, then `hfft` along the second.

    - `input`: halves of images. Parts that no such image has are ignored.
    - `s`: the two lengths of the result. -1 is the default, as None is for both: the size of
      `input`, and 2 (m - 1) in the last dimension, so odd last lengths must be given. `input` is
      cut or filled up with zeros to these lengths, in the last dimension to n // 2 + 1.
    - `dim`: the two dimensions of an image, by default the last ones.
    - `norm`: `"backward"`, which None means too, does not scale, `"ortho"` divides by $\sqrt n$ for
      $n$ elements of the result, `"forward"` by $n$.

    Shapes: `[..., m1, m2] -> [..., s1, s2]`.
    Dtypes: real, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves; IndexError
    for dimensions that `input` does not have.

    >>> functx.fft.hfft2(jnp.ones((2, 2), "float32"), s=(2, 3)).shape
    (2, 3)
    """
    return real_fourier(input, _half(input, s, dim), norm, inverse=False)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL)
def ihfftn(
    input: ArrayLike, s: Shape | None = None, dim: Shape | None = None, norm: str | None = None
) -> Array:
    r"""Inverse of `hfftn`: half of a signal with $x_{-k} = \overline{x_k}$, from a real transform.

    `ihfft` along the last of the dimensions, `ifft` along the others.

    - `input`: the transform, floating or of integers.
    - `s`: the lengths of the transform, which is cut or filled up with zeros at its ends. -1 leaves
      a length, and None all.
    - `dim`: the dimensions. None is all, or the last ones, as many as `s` has lengths.
    - `norm`: `"backward"`, which None means too, divides by the number $n$ of elements, `"ortho"`
      by $\sqrt n$, `"forward"` does not scale.

    Shapes: `[..., m1, m2] -> [..., s1, s2 // 2 + 1]` for two dimensions.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves and complex
    arrays; IndexError for dimensions that `input` does not have.

    >>> functx.fft.ihfftn(jnp.asarray([[4.0, 0.0], [0.0, 0.0]], "float32"))
    Array([[1.-0.j, 1.-0.j],
           [1.-0.j, 1.-0.j]], dtype=complex64)
    """
    return half_fourier(input, _some(input, s, dim), norm, inverse=True)


@operator(promote=Promote.NONE, accepts=Accepts.WHOLE_REAL)
def ihfft2(
    input: ArrayLike, s: Shape | None = None, dim: Shape = (-2, -1), norm: str | None = None
) -> Array:
    r"""Inverse of `hfft2`: halves of images with $x_{-k} = \overline{x_k}$, from transforms.

    `ihfft` along the second of two dimensions, `ifft` along the first.

    - `input`: the transforms, floating or of integers.
    - `s`: the two lengths of a transform, which is cut or filled up with zeros at its ends. -1
      leaves a length, and None both.
    - `dim`: the two dimensions of a transform, by default the last ones.
    - `norm`: `"backward"`, which None means too, divides by the number $n$ of elements, `"ortho"`
      by $\sqrt n$, `"forward"` does not scale.

    Shapes: `[..., m1, m2] -> [..., s1, s2 // 2 + 1]`.
    Dtypes: complex, as precise as `input`; integers count as the default dtype.
    Errors: RuntimeError for lengths below 1 and any other `norm`; TypeError for halves and complex
    arrays; IndexError for dimensions that `input` does not have.

    >>> functx.fft.ihfft2(jnp.ones((2, 3), "float32")).shape
    (2, 2)
    """
    return half_fourier(input, _some(input, s, dim), norm, inverse=True)


OptionalInts: TypeAlias = tuple[int, ...] | None


def _some(input: Array, s: OptionalInts, dim: OptionalInts, *, from_half: bool = False) -> Signal:
    """The signal along at least one dimension; of half a transform with `from_half`."""
    dims = _dims(input, s, dim)
    if not dims:
        refuse(f"`dim` must name at least 1 dimension, got {dim} for {describe(input)}")
    lengths = [None if n == -1 else n for n in s or [-1] * len(dims)]
    return signal_of(input, dims, lengths, "s", from_half=from_half)


def _half(input: Array, s: OptionalInts, dim: OptionalInts) -> Signal:
    """The signal whose half `input` is."""
    return _some(input, s, dim, from_half=True)


def _signal(input: Array, s: OptionalInts, dim: OptionalInts) -> Signal:
    """The signal along any number of dimensions, also none."""
    return _some(input, s, dim) if _dims(input, s, dim) else Signal((), ())


def _dims(input: Array, s: OptionalInts, dim: OptionalInts) -> tuple[int, ...]:
    """The dimensions of the signal: those named, or the last ones, as many as there are lengths."""
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
