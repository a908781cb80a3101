"""Positions in the triangles of a matrix."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Device, DType, LONG, operator, refuse

from .sizes import non_negative


__all__ = ["tril_indices", "triu_indices"]

_MOST = 2**32


@operator(differentiable=False)
def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType = LONG,
    device: Device | None = None,
) -> Array:
    """The rows and columns of the lower triangle of a `row` by `col` matrix, row by row.

    - `row`, `col`: the numbers of rows and of columns.
    - `offset`: the last diagonal of the triangle, counted upwards from the main one, 0.
    - `dtype`: int64, the default, or int32.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[2, number of positions]`.
    Errors: TypeError for another `dtype`, RuntimeError for negative sizes.

    >>> functx.tril_indices(2, 2)
    Array([[0, 1, 1],
           [0, 0, 1]], dtype=int64)
    """
    return _positions(row, col, offset, dtype, lower=True)


@operator(differentiable=False)
def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType = LONG,
    device: Device | None = None,
) -> Array:
    """The rows and columns of the upper triangle of a `row` by `col` matrix, row by row.

    - `row`, `col`: the numbers of rows and of columns.
    - `offset`: the first diagonal of the triangle, counted upwards from the main one, 0.
    - `dtype`: int64, the default, or int32.
    - `device`: where the result lives, such as `"cuda:0"`, a `jax.Device` or a sharding; JAX
      decides by default.

    Shapes: `[2, number of positions]`.
    Errors: TypeError for another `dtype`, RuntimeError for negative sizes.

    >>> functx.triu_indices(2, 2)
    Array([[0, 0, 1],
           [0, 1, 1]], dtype=int64)
    """
    return _positions(row, col, offset, dtype, lower=False)


def _positions(row: int, col: int, offset: int, dtype: DType, *, lower: bool) -> Array:
    non_negative((row,), "row")
    non_negative((col,), "col")
    if dtype not in (np.int32, np.int64):
        refuse(f"`dtype` must be int32 or int64, got {np.dtype(dtype).name}", error=TypeError)
    if not row or not col:
        return jnp.zeros((2, 0), dtype)
    if row * col > _MOST:
        refuse(f"{row} by {col} are more positions than memory holds", error=MemoryError)
    offset = min(max(offset, -row - 1), col + 1)  # within int32, whatever was asked
    first = np.clip(np.arange(row) + offset + lower, 0, col)  # behind a row's lower part
    count = int(first.sum() if lower else row * col - first.sum())
    rows, columns = (lax.broadcasted_iota("int32", (row, col), axis) for axis in (0, 1))
    inside = columns <= rows + offset if lower else columns >= rows + offset
    return jnp.stack(jnp.nonzero(inside, size=count)).astype(dtype)
