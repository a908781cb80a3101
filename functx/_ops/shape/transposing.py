"""Transposes and conjugate transposes of matrices."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import ArrayLike, category, describe, operator, Promote, refuse


__all__ = ["H", "T", "mH", "mT", "t"]


@operator(promote=Promote.NO_OPMATH, aliases=("t_copy",))
def t(input: ArrayLike) -> Array:
    """The transpose of a matrix; arrays with fewer dimensions stay as they are.

    - `input`: an array of at most 2 dimensions. The result keeps its dtype.

    Shapes: `[m, n] -> [n, m]`.
    Errors: RuntimeError if `input` has more than 2 dimensions.

    >>> functx.t(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    if input.ndim > 2:
        refuse(f"`input` must have at most 2 dimensions, got {describe(input)}", hint="try `mT`")
    return _reversed(input)


@operator(promote=Promote.NO_OPMATH)
def T(input: ArrayLike) -> Array:
    """The array with all its dimensions in the opposite order: `torch.Tensor.T`.

    - `input`: an array of any dtype, which the result keeps.

    Shapes: `[a, b, c] -> [c, b, a]`.

    >>> functx.T(jnp.zeros((2, 3, 4), "float32")).shape
    (4, 3, 2)
    """
    return _reversed(input)


@operator(promote=Promote.NO_OPMATH)
def H(input: ArrayLike) -> Array:
    r"""The conjugate transpose of a matrix, $y_{ij} = \overline{x_{ji}}$: `torch.Tensor.H`.

    - `input`: a matrix, or a 0-d array, which is conjugated. The result keeps its dtype.

    Shapes: `[m, n] -> [n, m]`.
    Errors: RuntimeError unless `input` has 0 or 2 dimensions.

    >>> functx.H(jnp.asarray([[1.0, 2.0j]], "complex64"))
    Array([[1.-0.j],
           [0.-2.j]], dtype=complex64)
    """
    if input.ndim not in (0, 2):
        refuse(f"`input` must have 2 dimensions, got {describe(input)}", hint="try `mH`")
    return _conjugated(_reversed(input))


@operator(promote=Promote.NO_OPMATH)
def mT(input: ArrayLike) -> Array:
    """Transposes of matrices: the last two dimensions exchanged.

    - `input`: an array of any dtype, which the result keeps. A 0-d array stays as it is.

    Shapes: `[..., m, n] -> [..., n, m]`.
    Errors: RuntimeError if `input` has 1 dimension.

    >>> functx.mT(jnp.zeros((2, 3, 4), "float32")).shape
    (2, 4, 3)
    """
    return _transposed(input)


@operator(promote=Promote.NO_OPMATH, aliases=("adjoint",))
def mH(input: ArrayLike) -> Array:
    r"""Conjugate transposes of matrices, $y_{\ldots ij} = \overline{x_{\ldots ji}}$.

    - `input`: an array of any dtype, which the result keeps. A 0-d array is conjugated.

    Shapes: `[..., m, n] -> [..., n, m]`.
    Errors: RuntimeError if `input` has 1 dimension.

    >>> functx.mH(jnp.asarray([[1.0, 2.0j]], "complex64"))
    Array([[1.-0.j],
           [0.-2.j]], dtype=complex64)
    """
    return _conjugated(_transposed(input))


def _reversed(x: Array) -> Array:
    return lax.transpose(x, range(x.ndim)[::-1])


def _transposed(x: Array) -> Array:
    if x.ndim == 1:
        refuse(f"`input` must have at least 2 dimensions, got {describe(x)}")
    return jnp.swapaxes(x, -1, -2) if x.ndim else x


def _conjugated(x: Array) -> Array:
    return lax.conj(x) if category(x.dtype) == 3 else x
