"""Largest and smallest elements that a mask keeps, and their positions."""

from __future__ import annotations

from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    converted,
    Dim,
    Dims,
    DType,
    highest,
    lowest,
    Mask,
    operator,
    Promote,
)
from functx._core.numbers.bitwise_comparison import greatest, least
from functx._ops.reductions.extreme_elements import extremum, placed, position

from .masks import filled, kept


__all__ = ["amax", "amin", "argmax", "argmin"]


@operator(promote=Promote.NONE, accepts=Accepts.REAL)
def amax(
    input: ArrayOnly,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    """Largest element where `mask` is True. NaN is the largest.

    - `input`: an array of any real dtype.
    - `dim`: the dimensions that are searched, one or several; None is all.
    - `keepdim`: whether these dimensions stay, with size 1.
    - `dtype`: the dtype of the result. None is that of `input`.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Where all elements are masked out, the result is -inf, the least integer, or False.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Gradients: elements that tie share the gradient evenly, and so do NaN. Masked elements have 0.
    Errors: IndexError for an empty dimension in `dim` and one that `input` does not have;
    RuntimeError for an empty array without `dim`, and if `mask` does not broadcast to `input`.

    >>> mask = jnp.asarray([True, True, False])
    >>> functx.masked.amax(jnp.asarray([1.0, 2.0, 9.0], "float32"), mask=mask)
    Array(2., dtype=float32)
    """
    keep = kept(input, mask)
    out = extremum(greatest, filled(input, keep, lowest(input.dtype)), dim, bool(keepdim), keep)
    return converted(out, dtype or input.dtype)


@operator(promote=Promote.NONE, accepts=Accepts.REAL)
def amin(
    input: ArrayOnly,
    dim: Dims = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    """Smallest element where `mask` is True. NaN is the smallest.

    - `input`: an array of any real dtype.
    - `dim`: the dimensions that are searched, one or several; None is all.
    - `keepdim`: whether these dimensions stay, with size 1.
    - `dtype`: the dtype of the result. None is that of `input`.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Where all elements are masked out, the result is inf, the greatest integer, or True.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Gradients: elements that tie share the gradient evenly, and so do NaN. Masked elements have 0.
    Errors: IndexError for an empty dimension in `dim` and one that `input` does not have;
    RuntimeError for an empty array without `dim`, and if `mask` does not broadcast to `input`.

    >>> mask = jnp.asarray([True, True, False])
    >>> functx.masked.amin(jnp.asarray([1.0, 2.0, 0.0], "float32"), mask=mask)
    Array(1., dtype=float32)
    """
    keep = kept(input, mask)
    out = extremum(least, filled(input, keep, highest(input.dtype)), dim, bool(keepdim), keep)
    return converted(out, dtype or input.dtype)


@operator(promote=Promote.NONE, accepts=Accepts.REAL_NUMBER, differentiable=False)
def argmax(
    input: ArrayOnly,
    dim: Dim | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    """Position of the largest element where `mask` is True: of the first one, at a tie.

    - `input`: an array of any real dtype but bool.
    - `dim`: the dimension that is searched. None searches the flattened array.
    - `keepdim`: whether this dimension stays, with size 1; without `dim`, all of them.
    - `dtype`: the dtype of the result. None is that of `input`, which may be too narrow for
      positions: `functx.int64` holds them all.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    NaN is the largest. The result is never the position of a masked element, which PyTorch's may be
    beside nothing but -inf or the least integer, unless all elements are masked out: then it is 0.

    Shapes: `[..., n, ...] -> [..., ...]`; `[]` without `dim`.
    Errors: IndexError if there is no element to find and if `input` does not have `dim`,
    RuntimeError if `mask` does not broadcast to `input`.

    >>> print(functx.masked.argmax(jnp.asarray([1, 5, 9]), 0, mask=jnp.asarray([1, 1, 0])))
    1
    """
    keep = kept(input, mask)
    index = position(greatest, filled(input, keep, lowest(input.dtype)), dim, keep)
    return converted(placed(index, input.ndim, dim, bool(keepdim)), dtype or input.dtype)


@operator(promote=Promote.NONE, accepts=Accepts.REAL_NUMBER, differentiable=False)
def argmin(
    input: ArrayOnly,
    dim: Dim | None = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    """Position of the smallest element where `mask` is True: of the first one, at a tie.

    - `input`: an array of any real dtype but bool.
    - `dim`: the dimension that is searched. None searches the flattened array.
    - `keepdim`: whether this dimension stays, with size 1; without `dim`, all of them.
    - `dtype`: the dtype of the result. None is that of `input`, which may be too narrow for
      positions: `functx.int64` holds them all.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    NaN is the smallest. The result is never the position of a masked element, which PyTorch's may
    be beside nothing but inf or the greatest integer, unless all elements are masked out: then it
    is 0.

    Shapes: `[..., n, ...] -> [..., ...]`; `[]` without `dim`.
    Errors: IndexError if there is no element to find and if `input` does not have `dim`,
    RuntimeError if `mask` does not broadcast to `input`.

    >>> print(functx.masked.argmin(jnp.asarray([1, 5, 0]), 0, mask=jnp.asarray([1, 1, 0])))
    0
    """
    keep = kept(input, mask)
    index = position(least, filled(input, keep, highest(input.dtype)), dim, keep)
    return converted(placed(index, input.ndim, dim, bool(keepdim)), dtype or input.dtype)
