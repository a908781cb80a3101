"""Writing whole slices at positions along a dimension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    ArrayOnly,
    describe,
    Dim,
    glanced,
    Index,
    index_in_range,
    indices_at_hand,
    number_at_hand,
    operator,
    Other,
    Promote,
    refuse,
    Requirement,
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


@operator(promote=Promote.NONE, requires=_positions_and_value_fit, takes_storage=True)
def index_fill(input: ArrayOnly, dim: Dim, index: Index, value: Other) -> Array:
    r"""A copy of `input` with `value` in the slices across `dim` at a vector of positions.

    For `dim=0`, $y_{\mathrm{index}_i,\,j} = v$. `value` is a number or a 0-d array, and has a
    gradient: the sum over what it filled.

    Dtypes: that of `input`, to which `value` is cast; a complex one is refused for real arrays,
    and eagerly on the CPU one that does not fit.
    Errors: IndexError for an index outside of `[-n, n)`; negative ones count from the end. Under
    `jit` those outside name nothing.

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


@operator(promote=Promote.NONE, requires=positions_inside, takes_storage=True)
def index_copy(input: ArrayOnly, dim: Dim, index: Index, source: ArrayOnly) -> Array:
    r"""A copy of `input` with the slices of `source` across `dim` at a vector of positions.

    For `dim=0`, $y_{\mathrm{index}_i,\,j} = s_{ij}$.

    Shapes: `input: [..., n, ...]`, `index: [m]`, `source: [..., m, ...]`.
    Dtypes: `source` has that of `input`.
    Gradients: of several slices written to one place, the one that stays gets the gradient,
    where PyTorch gives it to all.
    Errors: IndexError for an index outside of `[0, n)`; under `jit` such a slice is dropped.

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
