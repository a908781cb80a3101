"""Reading and writing along one dimension, and checks of indices.

Each function is one `lax` gather or scatter. Reads outside of the array give NaN for floating
dtypes, the least integer (the greatest for unsigned ones) or True; writes outside of it are
dropped. Negative positions lie outside.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    as_dtype,
    as_scalar,
    category,
    converted,
    decided,
    describe,
    glanced,
    index_in_range,
    indices_at_hand,
    LONG,
    refuse,
    Requirement,
    Size,
)


_OUTSIDE = lax.GatherScatterMode.FILL_OR_DROP


def read_along(x: Array, index: Array, dim: int) -> Array:
    """`x[.., index[i], ..]`, of one rank; `index` is no larger than `x` except along `dim`."""
    others = tuple(d for d in range(x.ndim) if d != dim)
    limits = [x.shape[d] if d == dim else index.shape[d] for d in range(x.ndim)]
    x = _up_to(x, limits)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(dim,),
        start_index_map=(dim,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
    )
    return lax.gather(
        x, lax.expand_dims(index, [index.ndim]), numbers, (1,) * x.ndim, mode=_OUTSIDE
    )


def write_along(
    x: Array, index: Array, updates: Array, dim: int, write: Callable[..., Array] = lax.scatter
) -> Array:
    """The inverse of `read_along`: `write` is one of `lax.scatter`, `lax.scatter_add`, ..."""
    others = tuple(d for d in range(x.ndim) if d != dim)
    missing = [(0, 0 if d == dim else x.shape[d] - index.shape[d], 0) for d in range(x.ndim)]
    index = lax.pad(index, as_scalar(x.shape[dim], index.dtype), missing)
    updates = lax.pad(updates, np.zeros((), updates.dtype), missing)
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=(),
        inserted_window_dims=(dim,),
        scatter_dims_to_operand_dims=(dim,),
        operand_batching_dims=others,
        scatter_indices_batching_dims=others,
    )
    return write(x, lax.expand_dims(index, [index.ndim]), updates, numbers, mode=_OUTSIDE)


def read_slices(x: Array, index: Array, dim: int) -> Array:
    """The slices of `x` across `dim` that a vector `index` names."""
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(d for d in range(x.ndim) if d != dim),
        collapsed_slice_dims=(dim,),
        start_index_map=(dim,),
    )
    sizes = tuple(1 if d == dim else n for d, n in enumerate(x.shape))
    return lax.gather(x, lax.expand_dims(index, [1]), numbers, sizes, mode=_OUTSIDE)


def write_slices(
    x: Array, index: Array, updates: Array, dim: int, write: Callable[..., Array] = lax.scatter
) -> Array:
    """The inverse of `read_slices`: `write` is one of `lax.scatter`, `lax.scatter_add`, ..."""
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(d for d in range(x.ndim) if d != dim),
        inserted_window_dims=(dim,),
        scatter_dims_to_operand_dims=(dim,),
    )
    return write(x, lax.expand_dims(index, [1]), updates, numbers, mode=_OUTSIDE)


def add_slices(x: Array, index: Array, updates: Array, dim: int) -> Array:
    """`x` with the slices of `updates` across `dim` added where a vector `index` says."""
    write = lax.scatter_max if category(x.dtype) == 0 else lax.scatter_add
    return write_slices(x, index, updates, dim, write)


def slices_to_write(input: Array, dim: int, index: Array, source: Array, name: str) -> Array:
    """`source` with one slice across `dim` for each position; errors call it `name`."""
    expected = list(as_line(input).shape)
    expected[dim] = index.size
    slices = as_line(source) if input.ndim == 0 else source
    if list(slices.shape) != expected:
        refuse(
            f"`{name}` must have shape {expected} for {describe(input)} and {index.size} "
            f"positions, got {describe(source)}"
        )
    return slices


def sum_into(x: Array, index: Array, updates: Array, dim: int) -> Array:
    """`write_along`, which adds; bools are joined by "or"."""
    write = lax.scatter_max if category(x.dtype) == 0 else lax.scatter_add
    return write_along(x, index, updates, dim, write)


def positions_where(mask: Array, size: int) -> Array:
    """The first `size` positions of True in a vector, then `mask.size` where there are fewer."""
    if decided(lambda: size < 0, otherwise=False):
        refuse(f"`size` must not be negative, got {size}", error=ValueError)
    long = as_dtype(LONG)
    slot = jnp.where(mask, jnp.cumsum(mask, dtype=long) - 1, size)
    nowhere = jnp.full(size, mask.size, long)
    return nowhere.at[slot].set(jnp.arange(mask.size, dtype=long), mode="drop")


def _positions_at_hand(input: Any, dim: int, index: Any, *_: Any, **__: Any) -> bool:
    return indices_at_hand(index, input.shape[dim])


@glanced(_positions_at_hand)
def positions_inside(*, input: Any, dim: int, index: Any, **_: Any) -> Iterator[Requirement]:
    """Requires that every position lies in `input` along `dim`. Negative positions do not."""
    yield index_in_range(index, size_along(input, dim))


def as_line(x: Array) -> Array:
    """A 0-d array as an array `[1]`, which has a dimension to index; any other array as it is."""
    return x.reshape(1) if x.ndim == 0 else x


def as_index(index: Any, name: str = "index") -> Array:
    """An array of positions, int32 or int64. An empty array may hold bools or other integers."""
    index = jnp.asarray(index)
    if index.size == 0 and category(index.dtype) < 2:
        return index.astype(as_dtype(LONG))
    if index.dtype not in (np.int32, np.int64):
        refuse(f"`{name}` must be int32 or int64, got {describe(index)}", error=TypeError)
    return index


def as_vector(index: Any, name: str = "index") -> Array:
    """A vector of positions. A 0-d array counts as a vector of one position."""
    index = as_index(index, name)
    if index.ndim > 1:
        refuse(f"`{name}` must be a vector, got {describe(index)}", error=IndexError)
    return as_line(index)


def check_ranks(input: Array, index: Array, dim: int) -> None:
    """Requires that `index` has the rank of `input` and is no larger, except along `dim`."""
    if max(index.ndim, 1) != max(input.ndim, 1):
        refuse(
            f"`index` must have as many dimensions as `input`, got {describe(index)} for "
            f"{describe(input)}"
        )
    for d in range(input.ndim if index.ndim else 0):
        if d != dim and _longer(index.shape[d], input.shape[d]):
            refuse(
                f"`index` must be no larger than `input` except in dimension {dim}, got "
                f"{describe(index)} for {describe(input)}"
            )


def check_same_dtype(input: Array, other: Array, name: str) -> None:
    """Requires one dtype for both sides of a write, since writes do not promote."""
    if input.dtype != other.dtype and not getattr(other, "weak_type", False):
        refuse(
            f"`{name}` must have the dtype of `input`, got {describe(other)} for {describe(input)}",
            hint=f"{name}.astype({input.dtype.name!r})",
            error=TypeError,
        )


def check_source(input: Array, index: Array, src: Array, dim: int) -> None:
    """Requires that `src` has the dtype and the rank of `input`, and is no smaller than `index`."""
    check_same_dtype(input, src, "src")
    check_ranks(input, index, dim)
    if max(src.ndim, 1) != max(index.ndim, 1):
        refuse(
            f"`src` must have as many dimensions as `index`, got {describe(src)} for "
            f"{describe(index)}"
        )
    if any(map(_longer, as_line(index).shape, as_line(src).shape)):
        refuse(f"`index` must be no larger than `src`, got {describe(index)} for {describe(src)}")


def cropped(src: Array, index: Array) -> Array:
    """The part of `src` for which `index` has positions."""
    src, shape = as_line(src), as_line(index).shape
    return _up_to(src, shape)


def _up_to(x: Array, limits: Sequence[Size]) -> Array:
    """The first elements of `x`, as many in each dimension as `limits` says."""
    if decided(lambda: all(map(operator.le, limits, x.shape)), otherwise=False):
        return lax.slice(x, [0] * x.ndim, limits)
    # A slice to a symbolic size must be known to end inside; padding may be negative.
    missing = [(0, limit - n, 0) for limit, n in zip(limits, x.shape, strict=True)]
    return lax.pad(x, np.zeros((), x.dtype), missing)


def _longer(size: Size, other: Size) -> bool:
    return decided(lambda: size > other, otherwise=False)


def cast_number(value: Any, dtype: Any, name: str) -> Array:
    """A number in the dtype of the array that it goes into, which must not drop an imaginary part.

    In an array of bools, every number but zero is True.
    """
    value = jnp.asarray(value)
    if category(value.dtype) == 3 and 0 < category(dtype) < 3:
        refuse(
            f"`{name}` must be real for {np.dtype(dtype).name} arrays, got {describe(value)}",
            error=TypeError,
        )
    return converted(value, dtype)


def size_along(x: Array, dim: int) -> int:
    """The size of `dim`. A 0-d array has one element to name."""
    return x.shape[dim] if x.shape else 1
