"""Values without their repetitions."""

from __future__ import annotations

from typing import Any, Literal, overload

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    as_dtype,
    describe,
    Dim,
    equally_varying,
    LONG,
    operator,
    Promote,
    refuse,
    Scalar,
)
from functx._core.order import equal

from .orders import stable_order


__all__ = ["unique"]


def _lines(input: Array, dim: int | None) -> Array:
    """What is compared as rows `[n, m]`: elements, or slices across `dim`."""
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
    """The positions that sort rows lexicographically, equal ones in their order."""
    last = lines.shape[1] - 1
    order = lax.iota(as_dtype(LONG), lines.shape[0])

    def by_column(j: Any, order: Array) -> Array:
        column = lax.dynamic_index_in_dim(lines, last - j, 1, keepdims=False)
        return order[stable_order(column[order], 0)]

    if last == 0:
        return stable_order(lines[:, 0], 0).astype(order.dtype)
    return lax.fori_loop(0, last + 1, by_column, equally_varying([order, lines])[0])


def _group_starts(lines: Array, order: Array) -> Array:
    ordered = lines[order]
    changes = jnp.any(~equal(ordered[1:], ordered[:-1]), axis=1)
    return jnp.concatenate([jnp.ones(min(1, len(lines)), bool), changes])


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
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Dim | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = 0,
) -> Any: ...
@operator(promote=Promote.NONE, accepts=Accepts.REAL, measured={"size": _distinct})
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
    """The distinct elements of `input`, or with `dim` the distinct slices across it.

    Gives the values alone, or a tuple of them and what else was asked for: `inverse`, where
    in the values each element of `input` is, and `counts`, how often each value occurs.
    They are sorted, slices lexicographically, whatever `sorted` says. No NaN equals another.

    Shapes: values `[m]`, inverse as `input`, counts `[m]`; with `dim` of size `n`, values
    `[..., m, ...]`, inverse `[n]`. Under `jit` pass `size=m`: missing values are `fill_value`
    with count 0, and what is too many is left out.
    Gradients: that of a value goes to its first occurrence. PyTorch has none.

    >>> functx.unique(jnp.asarray([3, 1, 3], "int32"))
    Array([1, 3], dtype=int32)
    >>> values, counts = functx.unique(jnp.asarray([3, 1, 3]), return_counts=True)
    >>> counts.tolist()
    [1, 2]
    """
    assert size is not None
    long = as_dtype(LONG)
    lines = _lines(input, dim)
    count = lines.shape[0]
    order = _order(lax.stop_gradient(lines))
    starts = _group_starts(lax.stop_gradient(lines), order)
    group = jnp.cumsum(starts, dtype=long) - 1
    # Where in `input` each value occurs first: the sort is stable.
    slot = jnp.where(starts, group, size)
    first = jnp.full(size, count, long).at[slot].set(order, mode="drop")
    source = input.reshape(-1) if dim is None else jnp.moveaxis(input, dim, 0)
    fill = lax.convert_element_type(fill_value, input.dtype)
    if count == 0:
        values = jnp.broadcast_to(fill, (size, *source.shape[1:]))
    else:
        values = source.at[first].get(mode="fill", fill_value=0)
        missing = (first >= count).reshape((-1,) + (1,) * (source.ndim - 1))
        values = jnp.where(missing, fill, values)
    outputs = [values if dim is None else jnp.moveaxis(values, 0, dim)]
    if return_inverse:
        inverse = jnp.zeros(count, long).at[order].set(group)
        outputs.append(inverse.reshape(input.shape) if dim is None else inverse)
    if return_counts:
        outputs.append(jnp.zeros(size, long).at[group].add(1, mode="drop"))
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
