"""Reading and writing at positions that count the elements of an array in row-major order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import (
    accumulator,
    ArrayOnly,
    describe,
    glanced,
    Index,
    index_in_range,
    indices_at_hand,
    operator,
    Promote,
    refuse,
    Requirement,
)

from .addressing import as_index, check_same_dtype, read_slices, sum_into, write_along


__all__ = ["put", "take"]


def _positions_at_hand(input: Any, index: Any, *_: Any, **__: Any) -> bool:
    return indices_at_hand(index, input.size, negative=True)


@glanced(_positions_at_hand)
def _positions_inside(*, input: Any, index: Any, **_: Any) -> Iterator[Requirement]:
    yield index_in_range(index, input.size, negative=True)


@operator(promote=Promote.NONE, requires=_positions_inside, takes_storage_dtypes=True)
def take(input: ArrayOnly, index: Index) -> Array:
    r"""Reads at positions in the flattened `input`: $y_i = x_{\mathrm{index}_i}$.

    - `input`: an array of any dtype and shape. The result keeps the dtype.
    - `index`: positions, int32 or int64; a negative one counts from the end.

    Shapes: the result has the shape of `index`.
    Errors: IndexError for an index outside of `[-n, n)`, with `n` elements, TypeError for an index
    of another dtype. Under `jit`, a read outside gives NaN; for integers the least value (uint8:
    the greatest), for bools True.

    >>> functx.take(jnp.asarray([[1, 2], [3, 4]], "int32"), jnp.asarray([0, -1]))
    Array([1, 4], dtype=int32)
    """
    index = as_index(index)
    if index.size == 0:
        return jnp.zeros(index.shape, input.dtype)
    if input.size == 0:
        refuse(
            f"`index` must be empty for an empty `input`, got {describe(index)}", error=IndexError
        )
    return read_slices(input.ravel(), _from_the_start(index, input), 0).reshape(index.shape)


@operator(promote=Promote.NONE, requires=_positions_inside)
def put(input: ArrayOnly, index: Index, source: ArrayOnly, accumulate: bool = False) -> Array:
    r"""A copy of `input` with `source` at positions in the flattened array, or added there.

    $y_{\mathrm{index}_i} = s_i$; with `accumulate`,
    $y_{\mathrm{index}_i} = x_{\mathrm{index}_i} + \sum s_i$.

    - `input`: an array of any dtype and shape, which the result keeps.
    - `index`: positions, int32 or int64; a negative one counts from the end.
    - `source`: an array of the dtype of `input` with as many elements as `index`.
    - `accumulate`: whether elements are added, halves in float32; bools are joined by "or".

    Gradients: if several values are written to one place, the one that stays gets the gradient,
    which PyTorch gives to all.
    Errors: IndexError for an index outside of `[-n, n)`, with `n` elements (under `jit`, such
    writes are dropped), and for another number of elements in `source`; TypeError for an index or a
    source of another dtype.

    >>> functx.put(jnp.zeros((2, 2), "float32"), jnp.asarray([0, -1]), jnp.ones(2, "float32"))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    index = as_index(index)
    check_same_dtype(input, source, "source")
    if source.size != index.size:
        refuse(
            f"`source` must have as many elements as `index`, got {describe(source)} for "
            f"{describe(index)}",
            error=IndexError,
        )
    if index.size == 0:
        return input
    where, flat, values = _from_the_start(index, input), input.ravel(), source.ravel()
    if not accumulate:
        return write_along(flat, where, values, 0).reshape(input.shape)
    wide = accumulator(input.dtype)
    out = sum_into(flat.astype(wide), where, values.astype(wide), 0)
    return out.astype(input.dtype).reshape(input.shape)


def _from_the_start(index: Array, input: Array) -> Array:
    """The positions as a vector, all counted from the start."""
    index = index.ravel()
    return index + (index < 0).astype(index.dtype) * input.size
