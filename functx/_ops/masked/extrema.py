"""Largest and smallest of the elements that a mask keeps, and where they are."""

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
    """Largest element over `dim`, or of all, where `mask` is True. NaN is the largest.

    Where all are masked out, it is -inf, the least integer, or False. What is masked out has
    gradient 0; of the others, those that tie share it evenly, and so do NaN.

    Shapes: as `functx.amax`'s; `mask` broadcasts to the input. Dtypes: the input's; the result is
    cast to `dtype`, if given. `mask` is True where it is not 0.
    Errors: IndexError if a named dimension is empty; RuntimeError if the array is, or if `mask`
    does not broadcast to it.

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
    """Smallest element over `dim`, or of all, where `mask` is True. NaN is the smallest.

    Where all are masked out, it is inf, the greatest integer, or True. What is masked out has
    gradient 0; of the others, those that tie share it evenly, and so do NaN.

    Shapes: as `functx.amin`'s; `mask` broadcasts to the input. Dtypes: the input's; the result is
    cast to `dtype`, if given. `mask` is True where it is not 0.
    Errors: IndexError if a named dimension is empty; RuntimeError if the array is, or if `mask`
    does not broadcast to it.

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
    """Where the largest element is along `dim`, or in the flattened array, where `mask` is True.

    The first of several; a NaN counts as the largest. It is never one that is masked out (as
    PyTorch's may be, beside nothing but -inf or the least integer), unless all are: then it is 0.

    Shapes: as `functx.argmax`'s; `mask` broadcasts to the input. Dtypes: that of the input, which
    may be too narrow for positions: `dtype=functx.int64` holds them all. `mask` is True where it
    is not 0.
    Errors: IndexError if there is no element to find; RuntimeError if `mask` does not broadcast
    to the input.

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
    """Where the smallest element is along `dim`, or in the flattened array, where `mask` is True.

    The first of several; a NaN counts as the smallest. It is never one that is masked out (as
    PyTorch's may be, beside nothing but inf or the greatest integer), unless all are: then it
    is 0.

    Shapes: as `functx.argmin`'s; `mask` broadcasts to the input. Dtypes: that of the input, which
    may be too narrow for positions: `dtype=functx.int64` holds them all. `mask` is True where it
    is not 0.
    Errors: IndexError if there is no element to find; RuntimeError if `mask` does not broadcast
    to the input.

    >>> print(functx.masked.argmin(jnp.asarray([1, 5, 0]), 0, mask=jnp.asarray([1, 1, 0])))
    0
    """
    keep = kept(input, mask)
    index = position(least, filled(input, keep, highest(input.dtype)), dim, keep)
    return converted(placed(index, input.ndim, dim, bool(keepdim)), dtype or input.dtype)
