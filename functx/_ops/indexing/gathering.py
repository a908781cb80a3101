"""Reading at positions given as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import (
    ArrayLike,
    describe,
    Dim,
    glanced,
    Index,
    index_in_range,
    indices_at_hand,
    operator,
    Promote,
    refuse,
    Requirement,
)

from .addressing import (
    as_index,
    as_line,
    as_vector,
    check_ranks,
    positions_inside,
    read_along,
    read_slices,
    size_along,
)


__all__ = ["gather", "index_select", "take_along_dim"]


@operator(promote=Promote.NONE, requires=positions_inside, takes_storage_dtypes=True)
def gather(input: ArrayLike, dim: Dim, index: Index, *, sparse_grad: bool = False) -> Array:
    r"""Reads along `dim`: for `dim=0`, $y_{ij} = x_{\mathrm{index}_{ij},\,j}$.

    - `input`: an array of any dtype, which the result keeps.
    - `dim`: the dimension along which `index` counts.
    - `index`: positions, int32 or int64.
    - `sparse_grad`: must be False, since gradients are dense.

    Shapes: `index` has the rank of `input` and is no larger except along `dim`; the result has the
    shape of `index`.
    Errors: IndexError for an index outside of `[0, n)`, RuntimeError for shapes that do not fit,
    TypeError for an index of another dtype, ValueError for `sparse_grad=True`. Under `jit`, where
    values are not known, a read outside gives NaN; for integers the least value (uint8: the
    greatest), for bools True.

    >>> functx.gather(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"), 1, jnp.asarray([[1], [0]]))
    Array([[2.],
           [3.]], dtype=float32)
    """
    if sparse_grad:
        refuse(
            "`sparse_grad` does not exist: the gradient is dense",
            hint="leave it out; functx.sparse.row_grad gives the gradient of a table as the rows "
            "or elements that were looked up",
            error=ValueError,
        )
    index = as_index(index)
    if index.size == 0:
        return jnp.zeros(index.shape, input.dtype)
    check_ranks(input, index, dim)
    return read_along(as_line(input), as_line(index), dim).reshape(index.shape)


@operator(promote=Promote.NONE, requires=positions_inside, takes_storage_dtypes=True)
def index_select(input: ArrayLike, dim: Dim, index: Index) -> Array:
    r"""The slices across `dim` at a vector of positions: $y_i = x_{\mathrm{index}_i}$ for `dim=0`.

    - `input`: an array of any dtype, which the result keeps.
    - `dim`: the dimension along which `index` counts.
    - `index`: a vector of positions, int32 or int64; a 0-d one counts as `[1]`.

    Shapes: `[..., n, ...], [m] -> [..., m, ...]`.
    Errors: IndexError for an index outside of `[0, n)` or of several dimensions, TypeError for an
    index of another dtype. Under `jit`, a read outside gives NaN; for integers the least value
    (uint8: the greatest), for bools True.

    >>> functx.index_select(jnp.asarray([[1, 2, 3], [4, 5, 6]], "int32"), 1, jnp.asarray([2, 0]))
    Array([[3, 1],
           [6, 4]], dtype=int32)
    """
    index = as_vector(index)
    if input.ndim == 0 and index.size != 1:
        refuse(f"`index` into a 0-d array must have one element, got {describe(index)}")
    out = read_slices(as_line(input), index, dim)
    return out.reshape(()) if input.ndim == 0 else out


def _wrapped_at_hand(input: Any, indices: Any, dim: Any = None) -> bool:
    size = input.size if dim is None else input.shape[dim]
    return indices_at_hand(indices, size, negative=True)


@glanced(_wrapped_at_hand)
def _wrapped_inside(*, input: Any, indices: Any, dim: Any, **_: Any) -> Iterator[Requirement]:
    size = input.size if dim is None else size_along(input, dim)
    yield index_in_range(indices, size, name="indices", negative=True)


@operator(promote=Promote.NONE, requires=_wrapped_inside, takes_storage_dtypes=True)
def take_along_dim(input: ArrayLike, indices: Index, dim: Dim | None = None) -> Array:
    """Reads along `dim`, with all other dimensions broadcast.

    - `input`: an array of any dtype, which the result keeps.
    - `indices`: positions along `dim`, int32 or int64, as `argsort(input, dim)` returns them. A
      negative one counts from the end.
    - `dim`: the dimension. None flattens both arrays first.

    Shapes: `[..., n, ...], [..., m, ...] -> [..., m, ...]`, where the dots broadcast; without
    `dim`, the result is a vector.
    Errors: IndexError for an index outside of `[-n, n)`, which PyTorch takes modulo `n`,
    RuntimeError for unequal ranks and for shapes that do not broadcast, TypeError for an
    index of another dtype. Under `jit`, a read outside gives NaN; for integers the least value
    (uint8: the greatest), for bools True.

    >>> x = jnp.asarray([[3, 1, 2]], "int32")
    >>> functx.take_along_dim(x, functx.argsort(x, 1), 1)
    Array([[1, 2, 3]], dtype=int32)
    """
    index = as_index(indices, "indices")
    if dim is None:
        input, index, dim = input.reshape(-1), index.reshape(-1), 0
    if input.ndim == 0:
        refuse("`dim` must be None for a 0-d array", error=IndexError)
    if index.ndim != input.ndim:
        refuse(
            f"`indices` must have as many dimensions as `input`, got {describe(index)} for "
            f"{describe(input)}"
        )
    n, m = input.shape[dim], index.shape[dim]
    one = [1 if d == dim else k for d, k in enumerate(input.shape)]
    other = [1 if d == dim else k for d, k in enumerate(index.shape)]
    shape = list(jnp.broadcast_shapes(tuple(one), tuple(other)))
    input = jnp.broadcast_to(input, shape[:dim] + [n] + shape[dim + 1 :])
    index = jnp.broadcast_to(index, shape[:dim] + [m] + shape[dim + 1 :])
    return read_along(input, jnp.where(index < 0, index + n, index), dim)
