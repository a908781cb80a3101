"""Sums of overlapping windows."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Size

from .windows import put_apart


def overlap_add(
    x: Array,
    inner: int,
    outer: int,
    *,
    size: Size,
    stride: int,
    dilation: int,
    join: Callable[[Array, Array], Array] = jnp.add,
) -> Array:
    """The sum of windows along a dimension of `size`.

    Dimension `inner` of `x`, which comes before `outer`, runs through the elements of a window, and
    `outer` runs through the windows: element `j` of window `i` is added at
    `i * stride + j * dilation`. The result lacks dimension `inner`, and has `size` in the place of
    `outer`. `join` is used instead of a sum if it is given.
    """
    total = None
    for j in range(x.shape[inner]):
        row = lax.index_in_dim(x, j, inner, keepdims=False)
        row = put_apart(row, {outer - 1: (j * dilation, size, stride)})
        total = row if total is None else join(total, row)
    assert total is not None  # windows have elements
    return total
