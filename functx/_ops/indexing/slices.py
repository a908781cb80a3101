"""Writing whole slices at positions along a dimension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    ArrayOnly,
    Autocast,
    describe,
    Dim,
    glanced,
    Index,
    index_in_range,
    indices_at_hand,
    number_at_hand,
    operator,
    Promote,
    refuse,
    Requirement,
    UnpromotedArray,
    value_fits,
)

from .addressing import (
    as_line,
    as_vector,
    cast_number,
    check_same_dtype,
    positions_inside,
    size_along,
    slices_to_write,
    write_along,
    write_slices,
)


__all__ = ["index_copy", "index_fill"]


def _known_to_fit(input: Any, dim: int, index: Any, value: Any) -> bool:
    inside = indices_at_hand(index, input.shape[dim], negative=True)
    return inside and number_at_hand(value, input.dtype)


@glanced(_known_to_fit)
def _positions_and_value_fit(
    *, input: Any, dim: int, index: Any, value: Any, **_: Any
) -> Iterator[Requirement]:
    yield index_in_range(index, size_along(input, dim), negative=True)
    yield value_fits(value, input.dtype, "value")


@operator(promote=Promote.NONE, requires=_positions_and_value_fit, takes_storage_dtypes=True)
def index_fill(input: ArrayOnly, dim: Dim, index: Index, value: UnpromotedArray) -> Array:
    r"""A copy of `input` with `value` in the slices across `dim` at a vector of positions.

    For `dim=0`, $y_{\mathrm{index}_i,\,j} = v$.

    - `input`: an array of any dtype and shape, which the result keeps.
    - `dim`: the dimension along which `index` counts.
    - `index`: a vector of positions, int32 or int64; a negative one counts from the end.
    - `value`: a number or a 0-d array, cast to the dtype of `input`.

    Gradients: that of `value` is the sum over all places that it fills.
    Errors: IndexError for an index outside of `[-n, n)` (under `jit`, it names nothing) or of
    several dimensions; TypeError for an `index` of another dtype and a complex `value` in a real
    array; RuntimeError for a `value` with dimensions and, eagerly on the CPU, for one that the
    dtype cannot hold.

    >>> functx.index_fill(jnp.zeros((2, 3), "float32"), 1, jnp.asarray([0, -1]), 5)
    Array([[5., 0., 5.],
           [5., 0., 5.]], dtype=float32)
    """
    index, value = as_vector(index), jnp.asarray(value)
    if value.ndim:
        refuse(f"`value` must be a number or a 0-d array, got {describe(value)}")
    value, line = cast_number(value, input.dtype, "value"), as_line(input)
    n = line.shape[dim]
    index = index + (index < 0).astype(index.dtype) * n
    named = write_along(jnp.zeros(n, np.bool_), index, jnp.ones(index.shape, np.bool_), 0)
    named = jnp.expand_dims(named, [d for d in range(line.ndim) if d != dim])
    return jnp.where(named, value, line).reshape(input.shape)


@operator(
    promote=Promote.NONE,
    requires=positions_inside,
    takes_storage_dtypes=True,
    autocast_cpu=Autocast.WIDEST,
)
def index_copy(input: ArrayOnly, dim: Dim, index: Index, source: ArrayOnly) -> Array:
    r"""A copy of `input` with the slices of `source` across `dim` at a vector of positions.

    For `dim=0`, $y_{\mathrm{index}_i,\,j} = s_{ij}$.

    - `input`: an array of any dtype, which the result keeps.
    - `dim`: the dimension along which `index` counts.
    - `index`: a vector of positions, int32 or int64; a 0-d one counts as `[1]`.
    - `source`: an array of the dtype of `input`.

    Shapes: `[..., n, ...], [m], [..., m, ...] -> [..., n, ...]` for `input`, `index` and `source`.
    Gradients: if several slices are written to one place, the one that stays gets the gradient,
    which PyTorch gives to all.
    Errors: IndexError for an index outside of `[0, n)` (under `jit`, such a slice is dropped) or of
    several dimensions, RuntimeError for shapes that do not fit, TypeError for an `index` or
    `source` of another dtype.

    >>> functx.index_copy(
    ...     jnp.zeros((3, 2), "float32"), 0, jnp.asarray([2]), jnp.ones((1, 2), "float32")
    ... )
    Array([[0., 0.],
           [0., 0.],
           [1., 1.]], dtype=float32)
    """
    index = as_vector(index)
    check_same_dtype(input, source, "source")
    slices = as_line(source) if input.ndim == 1 else source  # a 0-d source is one element
    slices = slices_to_write(input, dim, index, slices, "source")
    return write_slices(as_line(input), index, slices, dim).reshape(input.shape)
