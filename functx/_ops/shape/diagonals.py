"""Diagonals and triangles of matrices."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    ArrayLike,
    ArrayOnly,
    canonical_dim,
    category,
    converted,
    describe,
    operator,
    Promote,
    refuse,
)
from functx._core.rules import derivative_rules

from .models import check_source


__all__ = ["diag", "diag_embed", "diagflat", "diagonal", "diagonal_scatter", "tril", "triu"]


@operator(promote=Promote.NO_OPMATH)
def diag(input: ArrayLike, diagonal: int = 0) -> Array:
    """The matrix with a given diagonal and zeros elsewhere; of a matrix, its diagonal.

    `diagonal` counts diagonals upwards from the main one.
    Shapes: `[n] -> [n + |diagonal|, n + |diagonal|]`, `[m, n] -> [k]`.

    >>> functx.diag(jnp.asarray([1.0, 2.0], "float32"))
    Array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    if input.ndim not in (1, 2):
        refuse(f"`input` must have 1 or 2 dimensions, got {describe(input)}")
    if input.ndim == 2:
        return _diagonal(input, diagonal)
    return _embedded(input, diagonal)


@operator(promote=Promote.NO_OPMATH)
def diag_embed(input: ArrayLike, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    r"""Matrices in dimensions `dim1` and `dim2` with given diagonals, and zeros elsewhere.

    The last dimension holds the diagonals; `offset` counts diagonals upwards from the main one.
    Shapes: `[..., n] -> [..., n + |offset|, n + |offset|]`.

    >>> functx.diag_embed(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[[1., 0.],
            [0., 2.]],
    <BLANKLINE>
           [[3., 0.],
            [0., 4.]]], dtype=float32)
    """
    if not input.ndim:
        refuse(f"`input` must have a dimension, got {describe(input)}", error=IndexError)
    plane = _plane(input.ndim + 1, dim1, dim2, input)
    return jnp.moveaxis(_embedded(input, offset), (-2, -1), plane)


@operator(promote=Promote.NO_OPMATH)
def diagflat(input: ArrayLike, offset: int = 0) -> Array:
    r"""The matrix with all elements, in row-major order, on a diagonal, and zeros elsewhere.

    Shapes: with $n$ elements, $[n + |\mathrm{offset}|, n + |\mathrm{offset}|]$.

    >>> functx.diagflat(jnp.asarray([[1.0], [2.0]], "float32"))
    Array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    return _embedded(lax.reshape(input, (input.size,)), offset)


def _embedded(diagonals: Array, offset: int) -> Array:
    """Square matrices of the diagonals in the last dimension."""
    size = diagonals.shape[-1] + abs(offset)
    return _laid_out(diagonals, size, size, offset)


def _laid_out(diagonals: Array, m: int, n: int, offset: int) -> Array:
    """Matrices `[..., m, n]` of zeros but for a diagonal."""

    def forward(diagonals: Array) -> Array:
        *batch, length = diagonals.shape
        zero, first = np.zeros((), diagonals.dtype), max(-offset, 0)
        # A row has one element of the diagonal at most: no scatter, which costs more.
        ends = [(0, 0, 0)] * len(batch) + [(first, m - first - length, 0)]
        of_rows = jnp.expand_dims(lax.pad(diagonals, zero, ends), -1)
        return jnp.where(_on_diagonal(m, n, offset), of_rows, zero)

    if not diagonals.shape[-1]:
        return jnp.zeros((*diagonals.shape[:-1], m, n), diagonals.dtype)
    if category(diagonals.dtype) < 2:
        return forward(diagonals)
    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: _laid_out(tangents[0], m, n, offset),
        vjp=lambda primals, output, cotangent: (_diagonal(cotangent, offset),),
        name="laid_out",
    )(diagonals)


def _on_diagonal(m: int, n: int, offset: int) -> Array:
    row, column = (lax.broadcasted_iota("int32", (m, n), axis) for axis in (0, 1))
    return column - row == offset


@operator(promote=Promote.NO_OPMATH, aliases=("diagonal_copy",))
def diagonal(input: ArrayLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    r"""The elements $x_{\ldots, i, i + \mathrm{offset}}$ of the matrices in `dim1` and `dim2`.

    Shapes: the two dimensions go, and the diagonal's comes last.

    >>> functx.diagonal(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([1., 4.], dtype=float32)
    """
    rows, columns = _plane(input.ndim, dim1, dim2, input)
    return _diagonal(jnp.moveaxis(input, (rows, columns), (-2, -1)), offset)


@operator(promote=Promote.NONE)
def diagonal_scatter(
    input: ArrayLike, src: ArrayOnly, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Array:
    """A copy of `input` with another diagonal, as `diagonal` would read it.

    Shapes: `src` has that of `diagonal(input, offset, dim1, dim2)`.
    Dtypes: that of `input`, to which `src` is cast.

    >>> functx.diagonal_scatter(jnp.zeros((2, 2), "float32"), jnp.ones(2, "float32"))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    plane = _plane(input.ndim, dim1, dim2, input)
    matrices = jnp.moveaxis(input, plane, (-2, -1))
    *batch, m, n = matrices.shape
    expected = [*batch, _length(m, n, offset)]
    check_source(src, expected)
    if not expected[-1]:
        return input
    diagonals = _laid_out(converted(src, input.dtype), m, n, offset)
    out = jnp.where(_on_diagonal(m, n, offset), diagonals, matrices)
    return jnp.moveaxis(out, (-2, -1), plane)


def _plane(ndim: int, dim1: int, dim2: int, input: Array) -> tuple[int, int]:
    """The dimensions of rows and columns."""
    rows = canonical_dim(dim1, ndim, "dim1")
    columns = canonical_dim(dim2, ndim, "dim2")
    if rows == columns:
        refuse(f"`dim1` and `dim2` must differ, got {dim1} and {dim2} for {describe(input)}")
    return rows, columns


def _length(m: int, n: int, offset: int) -> int:
    return max(min(m, n - offset) if offset >= 0 else min(m + offset, n), 0)


def _diagonal(matrices: Array, offset: int) -> Array:
    *batch, m, n = matrices.shape
    size = _length(m, n, offset)

    def forward(matrices: Array) -> Array:
        # A slice with stride n + 1 of the rows laid end to end.
        first = offset if offset >= 0 else -offset * n
        last = first + (size - 1) * (n + 1)
        flat = lax.reshape(matrices, (*batch, m * n))
        return lax.slice_in_dim(flat, first, last + 1, n + 1, axis=len(batch))

    if not size:
        return jnp.zeros((*batch, 0), matrices.dtype)
    if category(matrices.dtype) < 2:
        return forward(matrices)
    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: _diagonal(tangents[0], offset),
        vjp=lambda primals, output, cotangent: (_laid_out(cotangent, m, n, offset),),
        name="diagonal",
    )(matrices)


@operator(promote=Promote.NO_OPMATH)
def tril(input: ArrayLike, diagonal: int = 0) -> Array:
    """The lower triangles of matrices, up to and with the given diagonal; zeros above.

    >>> functx.tril(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[1., 0.],
           [3., 4.]], dtype=float32)
    """
    return _where(_below(input, diagonal), input)


@operator(promote=Promote.NO_OPMATH)
def triu(input: ArrayLike, diagonal: int = 0) -> Array:
    """The upper triangles of matrices, from the given diagonal on; zeros below.

    >>> functx.triu(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([[1., 2.],
           [0., 4.]], dtype=float32)
    """
    return _where(~_below(input, diagonal - 1), input)


def _below(matrices: Array, diagonal: int) -> Array:
    """Where column <= row + diagonal."""
    if matrices.ndim < 2:
        refuse(f"`input` must have at least 2 dimensions, got {describe(matrices)}")
    m, n = matrices.shape[-2:]
    diagonal = min(max(diagonal, -m), n)  # within int32, whatever was asked
    row, column = (lax.broadcasted_iota("int32", (m, n), axis) for axis in (0, 1))
    return column <= row + diagonal


def _where(mask: Array, matrices: Array) -> Array:
    return jnp.where(mask, matrices, np.zeros((), matrices.dtype))
