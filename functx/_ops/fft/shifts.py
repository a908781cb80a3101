"""The order of frequencies: frequency 0 first, or in the middle."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import ArrayLike, canonical_dim, describe, operator, Promote, refuse, Shape


__all__ = ["fftshift", "ifftshift"]


@operator(promote=Promote.NO_OPMATH)
def fftshift(input: ArrayLike, dim: Shape | None = None) -> Array:
    """Moves frequency 0, which transforms put first, to the middle, place n // 2.

    - `input`: an array of any dtype and shape, which the result keeps.
    - `dim`: one dimension or several. None is all. A dimension named twice is shifted twice.

    Errors: IndexError for dimensions that `input` does not have.

    >>> functx.fft.fftshift(jnp.asarray([0.0, 1.0, -2.0, -1.0], "float32"))
    Array([-2., -1.,  0.,  1.], dtype=float32)
    """
    dims = _shifted(input, dim)
    return jnp.roll(input, [input.shape[k] // 2 for k in dims], dims) if input.size else input


@operator(promote=Promote.NO_OPMATH)
def ifftshift(input: ArrayLike, dim: Shape | None = None) -> Array:
    """Inverse of `fftshift`: moves frequency 0 from the middle to the first place.

    - `input`: an array of any dtype and shape, which the result keeps.
    - `dim`: one dimension or several. None is all. A dimension named twice is shifted twice.

    Errors: IndexError for dimensions that `input` does not have.

    >>> functx.fft.ifftshift(jnp.asarray([-2.0, -1.0, 0.0, 1.0], "float32"))
    Array([ 0.,  1., -2., -1.], dtype=float32)
    """
    dims = _shifted(input, dim)
    return jnp.roll(input, [-(input.shape[k] // 2) for k in dims], dims) if input.size else input


def _shifted(input: Array, dim: tuple[int, ...] | None) -> tuple[int, ...]:
    """The dimensions to shift, canonical."""
    if dim and not input.ndim:
        refuse(f"`dim` must be left out for {describe(input)}, got {dim}", error=IndexError)
    return tuple(range(input.ndim) if dim is None else (canonical_dim(k, input.ndim) for k in dim))
