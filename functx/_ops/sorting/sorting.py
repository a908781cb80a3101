"""Sorting along a dimension; NaN counts as greater than every number."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    as_dtype,
    category,
    describe,
    Dim,
    LONG,
    operator,
    Promote,
    refuse,
)
from functx._core.numbers.bitwise_comparison import from_keys, ordered_bits

from .orders import stable_order


__all__ = ["argsort", "msort", "sort", "topk"]


class SortResult(NamedTuple):
    """The values in order, and the position in the input of each."""

    values: Array
    indices: Array


class TopkResult(NamedTuple):
    """The greatest or least values, and the position in the input of each."""

    values: Array
    indices: Array


def _sorted(input: Array, dim: int, descending: bool) -> SortResult:
    line = input.reshape(1) if input.ndim == 0 else input
    indices = stable_order(lax.stop_gradient(line), dim, descending=descending)
    values = jnp.take_along_axis(line, indices, dim, mode="promise_in_bounds")
    indices = indices.astype(as_dtype(LONG))
    return SortResult(values.reshape(input.shape), indices.reshape(input.shape))


@operator(promote=Promote.NONE, accepts=Accepts.REAL)
def sort(
    input: ArrayLike, dim: Dim = -1, descending: bool = False, *, stable: bool = False
) -> SortResult:
    """Sorts `input` along `dim`: `(values, indices)`, with `values[i] = input[indices[i]]`.

    - `dim`: the dimension to sort along, by default the last.
    - `descending`: whether the greatest comes first.
    - `stable`: changes nothing, since equal elements always keep their order.

    NaN counts as the greatest.

    Shapes: both results have the shape of `input`.
    Dtypes: `indices` are int64. Errors: TypeError for complex numbers.

    >>> values, indices = functx.sort(jnp.asarray([2, 3, 1], "int32"), descending=True)
    >>> values, indices.tolist()
    (Array([3, 2, 1], dtype=int32), [1, 0, 2])
    """
    return _sorted(input, dim, descending)


@operator(promote=Promote.NONE, accepts=Accepts.REAL, differentiable=False)
def argsort(
    input: ArrayLike, dim: Dim = -1, descending: bool = False, *, stable: bool = False
) -> Array:
    """The positions that sort `input` along `dim`.

    - `dim`: the dimension to sort along, by default the last.
    - `descending`: whether the greatest comes first.
    - `stable`: changes nothing, since equal elements always keep their order.

    NaN counts as the greatest.

    Shapes: that of `input`. Dtypes: int64. Errors: TypeError for complex numbers.

    >>> functx.argsort(jnp.asarray([2, 3, 1])).tolist()
    [2, 0, 1]
    """
    return _sorted(input, dim, descending).indices


@operator(promote=Promote.NONE, accepts=Accepts.REAL)
def msort(input: ArrayLike) -> Array:
    """The elements of `input` in ascending order along the first dimension.

    Equal elements keep their order; NaN counts as the greatest. A 0-d array is returned as it is.

    Errors: TypeError for complex numbers.

    >>> functx.msort(jnp.asarray([[3, 1], [2, 4]], "int32"))
    Array([[2, 1],
           [3, 4]], dtype=int32)
    """
    if input.ndim and category(input.dtype) < 2:  # equal elements cannot be told apart
        return lax.sort(input, dimension=0, is_stable=False)
    return _sorted(input, 0, descending=False).values


@operator(promote=Promote.NONE, accepts=Accepts.REAL_NUMBER)
def topk(
    input: ArrayLike, k: int, dim: Dim | None = None, largest: bool = True, sorted: bool = True
) -> TopkResult:
    """The `k` greatest elements of `input` along `dim`, the greatest first: `(values, indices)`.

    - `k`: the number of elements.
    - `dim`: the dimension to choose along, by default the last.
    - `largest`: whether to give the greatest elements; otherwise the least, the least first.
    - `sorted`: changes nothing, since the result always is in order.

    NaN counts as the greatest. Among equal elements those that come first are taken, in their
    order.

    Shapes: `[..., n, ...] -> [..., k, ...]` twice; a 0-d array gives 0-d ones.
    Dtypes: `indices` are int64.
    Errors: ValueError if `k` does not lie in [0, n], TypeError for bools and complex numbers.

    >>> values, indices = functx.topk(jnp.asarray([2, 3, 1], "int32"), 2)
    >>> values, indices.tolist()
    (Array([3, 2], dtype=int32), [1, 0])
    """
    axis = max(input.ndim - 1, 0) if dim is None else dim
    line = input.reshape(1) if input.ndim == 0 else input
    if not 0 <= k <= line.shape[axis]:
        refuse(
            f"`k` must lie in [0, {line.shape[axis]}] along dimension {axis}, got {k} for "
            f"{describe(input)}",
            error=ValueError,
        )
    last = line.ndim - 1
    line = jnp.moveaxis(line, axis, last)
    indices = lax.top_k(_rising(line, largest), k)[1]
    values = jnp.take_along_axis(line, indices, last, mode="promise_in_bounds")
    values, indices = (
        jnp.moveaxis(x, last, axis) for x in (values, indices.astype(as_dtype(LONG)))
    )
    if input.ndim == 0:
        values, indices = (x.reshape(()) if k else x for x in (values, indices))
    return TopkResult(values, indices)


def _rising(x: Array, largest: bool) -> Array:
    """Keys that `lax.top_k` orders as asked; its own total order tells zeros and NaNs apart."""
    x = lax.stop_gradient(x)
    if category(x.dtype) < 2:
        return x if largest else ~x
    keys = ordered_bits(x)
    # XLA on CPUs sorts no more floats than it must; float32 holds the keys of float16 and bfloat16.
    halves = x.dtype.itemsize == 2
    x = keys.astype(np.float32) if halves else from_keys(keys, x.dtype)
    return x if largest else -x
