"""Diagonals of matrices that lie in two of an array's dimensions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, core, lax

from functx._core import canonical_dim, category, describe, known, refuse, Size
from functx._core.rules.custom_derivatives import derivative_rules


def embedded(diagonals: Array, offset: int) -> Array:
    """Square matrices with zeros but for the diagonals in the last dimension of `diagonals`."""
    size = diagonals.shape[-1] + abs(offset)
    return laid_out(diagonals, size, size, offset)


def laid_out(diagonals: Array, m: int, n: int, offset: int) -> Array:
    """Matrices `[..., m, n]` with zeros but for one diagonal each."""

    def forward(diagonals: Array) -> Array:
        *batch, length = diagonals.shape
        zero, first = np.zeros((), diagonals.dtype), max(-offset, 0)
        # A row has one element of the diagonal at most: no scatter, which costs more.
        ends = [(0, 0, 0)] * len(batch) + [(first, m - first - length, 0)]
        of_rows = jnp.expand_dims(lax.pad(diagonals, zero, ends), -1)
        return jnp.where(on_diagonal(m, n, offset), of_rows, zero)

    if diagonals.shape[-1] == 0:
        return jnp.zeros((*diagonals.shape[:-1], m, n), diagonals.dtype)
    if category(diagonals.dtype) < 2:
        return forward(diagonals)
    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: laid_out(tangents[0], m, n, offset),
        vjp=lambda primals, output, cotangent: (read_diagonal(cotangent, offset),),
        name="laid_out",
    )(diagonals)


def on_diagonal(m: int, n: int, offset: int) -> Array:
    """A mask of the elements on a diagonal of matrices."""
    row, column = (lax.broadcasted_iota("int32", (m, n), axis) for axis in (0, 1))
    return column - row == offset


def plane_of(ndim: int, dim1: int, dim2: int, input: Array) -> tuple[int, int]:
    """The dimensions of rows and columns, canonical; refuses one dimension for both."""
    rows = canonical_dim(dim1, ndim, "dim1")
    columns = canonical_dim(dim2, ndim, "dim2")
    if rows == columns:
        refuse(f"`dim1` and `dim2` must differ, got {dim1} and {dim2} for {describe(input)}")
    return rows, columns


def length_of(m: Size, n: Size, offset: int) -> Size:
    """The number of elements on a diagonal of an `[m, n]` matrix."""
    length = core.min_dim(m, n - offset) if offset >= 0 else core.min_dim(m + offset, n)
    return core.max_dim(length, 0)


def read_diagonal(matrices: Array, offset: int) -> Array:
    """A diagonal of each matrix in the last two dimensions."""
    *batch, m, n = matrices.shape
    size = length_of(m, n, offset)

    def forward(matrices: Array) -> Array:
        # A slice with stride n + 1 of the rows laid end to end.
        first = offset if offset >= 0 else -offset * n
        last = first + (size - 1) * (n + 1)
        flat = lax.reshape(matrices, (*batch, m * n))
        if not known(m, n):  # a slice's stride must be a number
            places = first + (n + 1) * jnp.arange(size)
            return jnp.take(flat, places, len(batch), mode="clip")
        return lax.slice_in_dim(flat, first, last + 1, n + 1, axis=len(batch))

    if size == 0:
        return jnp.zeros((*batch, 0), matrices.dtype)
    if category(matrices.dtype) < 2:
        return forward(matrices)
    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: read_diagonal(tangents[0], offset),
        vjp=lambda primals, output, cotangent: (laid_out(cotangent, m, n, offset),),
        name="diagonal",
    )(matrices)
