"""Sums of windows where they overlap."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array, lax


def overlap_add(
    x: Array,
    inner: int,
    outer: int,
    *,
    size: int,
    stride: int,
    dilation: int,
    join: Callable[[Array, Array], Array] = jnp.add,
) -> Array:
    """The sum of windows along a dimension of `size`.

    Dimension `inner` of `x`, which comes before `outer`, runs through the elements of a window,
    `outer` through the windows: element `j` of window `i` is added at `i * stride + j * dilation`.
    The result has lost `inner`, and has `size` in the place of `outer`.
    """
    total = None
    for j in range(x.shape[inner]):
        row = lax.index_in_dim(x, j, inner, keepdims=False)
        edges = [(0, 0, 0)] * row.ndim
        reach = j * dilation + (x.shape[outer] - 1) * stride + 1
        edges[outer - 1] = (j * dilation, size - reach, stride - 1)
        row = lax.pad(row, np.zeros((), row.dtype), edges)
        total = row if total is None else join(total, row)
    assert total is not None  # windows have elements
    return total
