"""Distinct values of arrays."""

from __future__ import annotations

from typing import Any, Literal, overload

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    as_dtype,
    as_number,
    describe,
    Dim,
    equally_varying,
    LONG,
    operator,
    Promote,
    refuse,
    Scalar,
)
from functx._core.numbers.bitwise_comparison import equal

from .orders import stable_order


__all__ = ["unique", "unique_consecutive"]


def _lines(input: Array, dim: int | None) -> Array:
    """The elements, or slices across `dim`, that are compared, as rows of a matrix `[n, m]`."""
    if dim is None:
        return input.reshape(-1, 1)
    if input.ndim == 0:
        refuse("`dim` must be None for a 0-d array", error=IndexError)
    across = [n for d, n in enumerate(input.shape) if d != dim]
    if 0 in across:
        refuse(f"`input` must not be empty in a dimension other than `dim`, got {describe(input)}")
    lines = jnp.moveaxis(input, dim, 0)
    return lines.reshape(lines.shape[0], -1) if input.size else lines.reshape(0, 1)


def _order(lines: Array) -> Array:
    """The positions that sort rows lexicographically; equal rows keep their order."""
    last = lines.shape[1] - 1
    order = lax.iota(as_dtype(LONG), lines.shape[0])

    def by_column(j: Any, order: Array) -> Array:
        column = lax.dynamic_index_in_dim(lines, last - j, 1, keepdims=False)
        return order[stable_order(column[order], 0)]

    if last == 0:
        return stable_order(lines[:, 0], 0).astype(order.dtype)
    return lax.fori_loop(
        0, as_number(last + 1, order.dtype), by_column, equally_varying([order, lines])[0]
    )


def _group_starts(lines: Array, order: Array | None) -> Array:
    """Whether each row differs from the row before it, in the order `order`."""
    ordered = lines if order is None else lines[order]
    changes = jnp.any(~equal(ordered[1:], ordered[:-1]), axis=1)
    return jnp.concatenate([jnp.ones(min(1, lines.shape[0]), bool), changes])


def _distinct(
    input: Array,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> Array:
    lines = lax.stop_gradient(_lines(input, dim))
    return jnp.count_nonzero(_group_starts(lines, _order(lines)))


@overload
def unique(
    input: ArrayLike,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> Array: ...
@overload
def unique(
    input: ArrayLike,
    sorted: bool = True,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    dim: Dim | None = None,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> tuple[Array, Array]: ...
@overload
def unique(
    input: ArrayLike,
    sorted: bool = True,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    dim: Dim | None = None,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> tuple[Array, Array, Array]: ...
@overload
def unique(
    input: ArrayLike,
    sorted: bool,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> tuple[Array, Array]: ...
@overload
def unique(
    input: ArrayLike,
    sorted: bool,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> tuple[Array, Array, Array]: ...
@overload
def unique(
    input: ArrayLike,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    dim: Dim | None = None,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> tuple[Array, Array]: ...
@overload
def unique(
    input: ArrayLike,
    sorted: bool,
    return_inverse: Literal[False],
    return_counts: Literal[True],
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> tuple[Array, Array]: ...
@overload
def unique(
    input: ArrayLike,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> Array | tuple[Array, ...]: ...
@operator(promote=Promote.NONE, accepts=Accepts.REAL, sizes_from_values={"size": _distinct})
def unique(
    input: ArrayLike,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> Array | tuple[Array, ...]:
    """The distinct elements of `input`, or with `dim` its distinct slices across `dim`, in order.

    The result is the array of values, or a tuple of it and what else was asked for.

    - `sorted`: changes nothing, since values always are in order, slices lexicographically.
    - `return_inverse`: whether to give the position in the values of each element of `input`, too.
    - `return_counts`: whether to give the number of times that each value occurs, too.
    - `dim`: the dimension across which slices are compared; `None` compares elements.
    - `size`: the number `m` of values, which `jit` needs. Missing values are `fill_value` with the
      count 0, and values beyond `size` are left out.
    - `fill_value`: a number, 0 by default.

    NaN equals nothing.

    Shapes: values `[m]`, inverse as `input`, counts `[m]`; with `dim` of size `n`, values
    `[..., m, ...]`, inverse `[n]`. Dtypes: inverse and counts are int64. Errors: TypeError for
    complex numbers.
    Gradients: that of a value goes to its first occurrence. PyTorch has none.

    >>> functx.unique(jnp.asarray([3, 1, 3], "int32"))
    Array([1, 3], dtype=int32)
    >>> values, counts = functx.unique(jnp.asarray([3, 1, 3]), return_counts=True)
    >>> counts.tolist()
    [1, 2]
    """
    assert size is not None
    lines = lax.stop_gradient(_lines(input, dim))
    order = _order(lines)
    outputs = _groups(input, dim, _group_starts(lines, order), order, size, fill_value)
    return _asked(outputs, return_inverse, return_counts)


def _runs(input: Array, dim: int | None = None, **_: Any) -> Array:
    return jnp.count_nonzero(_group_starts(lax.stop_gradient(_lines(input, dim)), None))


@overload
def unique_consecutive(
    input: ArrayLike,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> Array: ...
@overload
def unique_consecutive(
    input: ArrayLike,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> tuple[Array, Array]: ...
@overload
def unique_consecutive(
    input: ArrayLike,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> tuple[Array, Array, Array]: ...
@overload
def unique_consecutive(
    input: ArrayLike,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    dim: Dim | None = None,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> tuple[Array, Array]: ...
@overload
def unique_consecutive(
    input: ArrayLike,
    return_inverse: Literal[False],
    return_counts: Literal[True],
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> tuple[Array, Array]: ...
@overload
def unique_consecutive(
    input: ArrayLike,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> Array | tuple[Array, ...]: ...
@operator(promote=Promote.NONE, accepts=Accepts.REAL, sizes_from_values={"size": _runs})
def unique_consecutive(
    input: ArrayLike,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> Array | tuple[Array, ...]:
    """The first of each run of equal elements of `input`, or with `dim` of equal slices across it.

    The result is the array of values, or a tuple of it and what else was asked for. Values stay in
    their order.

    - `return_inverse`: whether to give the number of the run of each element of `input`, too.
    - `return_counts`: whether to give the length of each run, too.
    - `dim`: the dimension across which slices are compared; `None` compares elements.
    - `size`: the number `m` of runs, which `jit` needs. Missing values are `fill_value` with the
      count 0, and runs beyond `size` are left out.
    - `fill_value`: a number, 0 by default.

    NaN equals nothing.

    Shapes: values `[m]`, inverse as `input`, counts `[m]`; with `dim` of size `n`, values
    `[..., m, ...]`, inverse `[n]`. Dtypes: inverse and counts are int64. Errors: TypeError for
    complex numbers.
    Gradients: that of a value goes to the first of its run. PyTorch has none.

    >>> functx.unique_consecutive(jnp.asarray([1, 1, 3, 1], "int32"))
    Array([1, 3, 1], dtype=int32)
    """
    assert size is not None
    lines = lax.stop_gradient(_lines(input, dim))
    outputs = _groups(input, dim, _group_starts(lines, None), None, size, fill_value)
    return _asked(outputs, return_inverse, return_counts)


def _groups(
    input: Array,
    dim: int | None,
    starts: Array,
    order: Array | None,
    size: int,
    fill_value: Scalar,
) -> tuple[Array, Array, Array]:
    """The first of each group of elements in `order`, the inverse, and the counts."""
    long, count = as_dtype(LONG), starts.shape[0]
    group = jnp.cumsum(starts, dtype=long) - 1
    # The place in `input` where each value occurs first, since the sort is stable.
    slot = jnp.where(starts, group, size)
    places = lax.iota(long, count) if order is None else order.astype(long)
    first = jnp.full(size, count, long).at[slot].set(places, mode="drop")
    source = input.reshape(-1) if dim is None else jnp.moveaxis(input, dim, 0)
    fill = lax.convert_element_type(fill_value, input.dtype)
    if count == 0:
        values = jnp.broadcast_to(fill, (size, *source.shape[1:]))
    else:
        values = source.at[first].get(mode="fill", fill_value=0)
        missing = (first >= count).reshape((-1,) + (1,) * (source.ndim - 1))
        values = jnp.where(missing, fill, values)
    inverse = group if order is None else jnp.zeros(count, long).at[order].set(group)
    return (
        values if dim is None else jnp.moveaxis(values, 0, dim),
        inverse.reshape(input.shape) if dim is None else inverse,
        jnp.zeros(size, long).at[group].add(1, mode="drop"),
    )


def _asked(
    outputs: tuple[Array, Array, Array], return_inverse: bool, return_counts: bool
) -> Array | tuple[Array, ...]:
    values, inverse, counts = outputs
    asked = [values, *[inverse] * return_inverse, *[counts] * return_counts]
    return asked[0] if len(asked) == 1 else tuple(asked)
