"""Diagonals and triangles of matrices."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import ArrayLike, canonical_dim, describe, operator, Promote, refuse


__all__ = ["diag", "diagonal", "tril", "triu"]


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
    n = input.shape[0] + abs(diagonal)
    if not input.shape[0]:
        return jnp.zeros((n, n), input.dtype)
    # In row-major order, the elements of a diagonal lie n + 1 apart: one pad, no scatter.
    before = max(diagonal, 0) + max(-diagonal, 0) * n
    within = (input.shape[0] - 1) * (n + 1) + 1
    zero = np.zeros((), input.dtype)
    return lax.pad(input, zero, [(before, n * n - before - within, n)]).reshape(n, n)


@operator(promote=Promote.NO_OPMATH)
def diagonal(input: ArrayLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    r"""The elements $x_{\ldots, i, i + \mathrm{offset}}$ of the matrices in `dim1` and `dim2`.

    Shapes: the two dimensions go, and the diagonal's comes last.

    >>> functx.diagonal(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    Array([1., 4.], dtype=float32)
    """
    rows = canonical_dim(dim1, input.ndim, "dim1")
    columns = canonical_dim(dim2, input.ndim, "dim2")
    if rows == columns:
        refuse(f"`dim1` and `dim2` must differ, got {dim1} and {dim2} for {describe(input)}")
    return _diagonal(jnp.moveaxis(input, (rows, columns), (-2, -1)), offset)


def _diagonal(matrices: Array, offset: int) -> Array:
    *batch, m, n = matrices.shape
    size = max(min(m, n - offset) if offset >= 0 else min(m + offset, n), 0)
    if not size:
        return jnp.zeros((*batch, 0), matrices.dtype)
    # A slice with stride n + 1 of the rows laid end to end: its transpose is a pad.
    first = offset if offset >= 0 else -offset * n
    last = first + (size - 1) * (n + 1)
    flat = lax.reshape(matrices, (*batch, m * n))
    return lax.slice_in_dim(flat, first, last + 1, n + 1, axis=len(batch))


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
