"""Diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array, core, lax

from functx._core import (
    ArrayLike,
    ArrayOnly,
    as_number,
    converted,
    describe,
    known,
    operator,
    Promote,
    refuse,
    Size,
)

from .models import check_source
from .planes import embedded, laid_out, length_of, on_diagonal, plane_of, read_diagonal


__all__ = ["diag", "diag_embed", "diagflat", "diagonal", "diagonal_scatter", "tril", "triu"]


@operator(promote=Promote.NO_OPMATH)
def diag(input: ArrayLike, diagonal: int = 0) -> Array:
    """The matrix with a given diagonal and zeros elsewhere, or the diagonal of a given matrix.

    - `input`: a vector, which becomes a diagonal, or a matrix, whose diagonal is read. The result
      keeps its dtype.
    - `diagonal`: which diagonal: 0 is the main one, 1 the one above it, -1 the one below.

    Shapes: `[n] -> [n + |diagonal|, n + |diagonal|]`; `[m, n] -> [k]`, with as many elements as the
    diagonal has.
    Errors: RuntimeError unless `input` has 1 or 2 dimensions.

    >>> functx.diag(jnp.asarray([1.0, 2.0], "float32"))
    Array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    if input.ndim not in (1, 2):
        refuse(f"`input` must have 1 or 2 dimensions, got {describe(input)}")
    if input.ndim == 2:
        return read_diagonal(input, diagonal)
    return embedded(input, diagonal)


@operator(promote=Promote.NO_OPMATH)
def diag_embed(input: ArrayLike, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """Matrices with given diagonals, and zeros elsewhere.

    - `input`: an array of any dtype, which the result keeps. Its last dimension holds the
      diagonals.
    - `offset`: which diagonal: 0 is the main one, 1 the one above it, -1 the one below.
    - `dim1`, `dim2`: the dimensions of the result that are the matrices' rows and columns.

    Shapes: `[..., n] -> [..., n + |offset|, n + |offset|]`.
    Errors: RuntimeError if `dim1` equals `dim2`, IndexError for dimensions that the result does not
    have and for a 0-d `input`.

    >>> functx.diag_embed(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[[1., 0.],
            [0., 2.]],
    <BLANKLINE>
           [[3., 0.],
            [0., 4.]]], dtype=float32)
    """
    if not input.ndim:
        refuse(f"`input` must have a dimension, got {describe(input)}", error=IndexError)
    plane = plane_of(input.ndim + 1, dim1, dim2, input)
    return jnp.moveaxis(embedded(input, offset), (-2, -1), plane)


@operator(promote=Promote.NO_OPMATH)
def diagflat(input: ArrayLike, offset: int = 0) -> Array:
    r"""The matrix with all elements, in row-major order, on one diagonal, and zeros elsewhere.

    - `input`: an array of any shape and dtype. The result keeps the dtype.
    - `offset`: which diagonal: 0 is the main one, 1 the one above it, -1 the one below.

    Shapes: $n$ elements give $[n + |\mathrm{offset}|, n + |\mathrm{offset}|]$.

    >>> functx.diagflat(jnp.asarray([[1.0], [2.0]], "float32"))
    Array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    return embedded(lax.reshape(input, (input.size,)), offset)


@operator(promote=Promote.NO_OPMATH, aliases=("diagonal_copy",))
def diagonal(input: ArrayLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    r"""The elements $x_{\ldots, i, i + \mathrm{offset}}$ of the matrices in `dim1` and `dim2`.

    - `input`: an array of any dtype, which the result keeps.
    - `offset`: which diagonal: 0 is the main one, 1 the one above it, -1 the one below.
    - `dim1`, `dim2`: the dimensions that are the matrices' rows and columns.

    Shapes: `[m, n, ...] -> [..., k]`: the two dimensions go, and that of the diagonal comes last.
    Errors: RuntimeError if `dim1` equals `dim2`, IndexError for dimensions that `input` does not
    have.

    >>> functx.diagonal(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([1., 4.], dtype=float32)
    """
    rows, columns = plane_of(input.ndim, dim1, dim2, input)
    return read_diagonal(jnp.moveaxis(input, (rows, columns), (-2, -1)), offset)


@operator(promote=Promote.NONE, takes_storage_dtypes=True)
def diagonal_scatter(
    input: ArrayLike, src: ArrayOnly, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Array:
    """A copy of `input` in which `src` replaces a diagonal.

    - `input`: an array of any dtype, which the result keeps.
    - `src`: the new diagonal, cast to the dtype of `input`.
    - `offset`: which diagonal: 0 is the main one, 1 the one above it, -1 the one below.
    - `dim1`, `dim2`: the dimensions that are the matrices' rows and columns.

    Shapes: `[m, n, ...], [..., k] -> [m, n, ...]`: `src` has the shape of
    `diagonal(input, offset, dim1, dim2)`.
    Errors: RuntimeError if `src` has another shape or `dim1` equals `dim2`, IndexError for
    dimensions that `input` does not have.

    >>> functx.diagonal_scatter(jnp.zeros((2, 2), "float32"), jnp.ones(2, "float32"))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    plane = plane_of(input.ndim, dim1, dim2, input)
    matrices = jnp.moveaxis(input, plane, (-2, -1))
    *batch, m, n = matrices.shape
    expected = [*batch, length_of(m, n, offset)]
    check_source(src, expected)
    if expected[-1] == 0:
        return input
    src = converted(src, input.dtype)
    if not known(m, n):  # the shapes are equal, which the symbols need not say
        src = lax.pad(src, np.zeros((), src.dtype), _missing(src, expected))
    diagonals = laid_out(src, m, n, offset)
    out = jnp.where(on_diagonal(m, n, offset), diagonals, matrices)
    return jnp.moveaxis(out, (-2, -1), plane)


@operator(promote=Promote.NO_OPMATH)
def tril(input: ArrayLike, diagonal: int = 0) -> Array:
    """The lower triangles of matrices: zeros replace all elements above a diagonal.

    - `input`: an array of any dtype, which the result keeps.
    - `diagonal`: the last diagonal that stays: 0 is the main one, 1 the one above it, -1 the one
      below.

    Shapes: `[..., m, n] -> [..., m, n]`.
    Errors: RuntimeError if `input` has fewer than 2 dimensions.

    >>> functx.tril(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[1., 0.],
           [3., 4.]], dtype=float32)
    """
    return _where(_below(input, diagonal), input)


@operator(promote=Promote.NO_OPMATH)
def triu(input: ArrayLike, diagonal: int = 0) -> Array:
    """The upper triangles of matrices: zeros replace all elements below a diagonal.

    - `input`: an array of any dtype, which the result keeps.
    - `diagonal`: the first diagonal that stays: 0 is the main one, 1 the one above it, -1 the one
      below.

    Shapes: `[..., m, n] -> [..., m, n]`.
    Errors: RuntimeError if `input` has fewer than 2 dimensions.

    >>> functx.triu(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[1., 2.],
           [0., 4.]], dtype=float32)
    """
    return _where(~_below(input, diagonal - 1), input)


def _missing(x: Array, shape: Sequence[Size]) -> list[tuple[Size, Size, int]]:
    """The padding that brings `x` to `shape`, for `lax.pad`."""
    return [(0, n - m, 0) for n, m in zip(shape, x.shape, strict=True)]


def _below(matrices: Array, diagonal: int) -> Array:
    """A mask of the elements on or below a diagonal: column <= row + diagonal."""
    if matrices.ndim < 2:
        refuse(f"`input` must have at least 2 dimensions, got {describe(matrices)}")
    m, n = matrices.shape[-2:]
    # Within int32, whatever was asked.
    diagonal = as_number(core.min_dim(core.max_dim(diagonal, -m), n), np.int32)
    row, column = (lax.broadcasted_iota("int32", (m, n), axis) for axis in (0, 1))
    return column <= row + diagonal


def _where(mask: Array, matrices: Array) -> Array:
    """The matrices where `mask` holds, and zeros elsewhere."""
    return jnp.where(mask, matrices, np.zeros((), matrices.dtype))
