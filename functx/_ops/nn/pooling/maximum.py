"""Pooling: the greatest element of each window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, available, category, LONG, lowest, operator, Promote
from functx._core.order import greatest_key, ordered_bits

from .placement import placed, Windows


__all__ = ["max_pool2d"]


class MaxPoolResult(NamedTuple):
    """The greatest values, and where they are in each flattened image."""

    output: Array
    indices: Array


@overload
def max_pool2d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Array: ...
@overload
def max_pool2d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> MaxPoolResult: ...
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL_NUMBER, aliases=("max_pool2d",))
def max_pool2d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest element of each window.

    Shapes: `[N, C, H, W]` or `[C, H, W]` gives `[N, C, H', W']` or `[C, H', W']` with
    `H' = (H + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1`, rounded up instead of
    down if `ceil_mode`; windows starting beyond the input are left out.

    - `stride`: `kernel_size` unless given.
    - `padding`: at most half of the kernel on either side; what is padded never counts.
    - `return_indices`: also gives each result's position `row * W + column` in its image. That of
      a window over padding alone, whose value is the least, may lie outside.

    A window with a NaN gives NaN. The gradient goes to one element of each window: the first of
    the greatest, or the last NaN.

    >>> functx.nn.functional.max_pool2d(jnp.arange(4, dtype="float32").reshape(1, 2, 2), 2)
    Array([[[3.]]], dtype=float32)
    """
    windows = placed(input, kernel_size, stride, padding, dilation, ceil_mode, n=2)
    batch = input.shape[:-2]
    images = input.reshape(math.prod(batch), *windows.sizes)
    where = _positions_of_greatest(images, windows)
    out = jnp.take_along_axis(
        images.reshape(len(images), math.prod(windows.sizes)),
        where.reshape(len(images), math.prod(windows.counts)),
        axis=1,
        mode="fill",
        fill_value=lowest(input.dtype),
    )
    out = out.reshape(*batch, *windows.counts)
    if not return_indices:
        return out
    where = _where_nothing_is(windows, where)
    return MaxPoolResult(out, where.astype(available(LONG)).reshape(out.shape))


def _where_nothing_is(windows: Windows, where: jax.Array) -> jax.Array:
    """Positions, of windows over padding alone: of their first place not before the image."""
    empty, begin = np.asarray(False), np.asarray(0, np.int32)
    for axis, (n, k, s, p, d, count) in enumerate(zip(*windows, strict=True)):
        places = np.arange(count)[:, None] * s - p + np.arange(k) * d
        first = np.where(places[:, 0] < 0, places[:, 0] % d, places[:, 0])
        along = [count if i == axis else 1 for i in range(len(windows.sizes))]
        empty = empty | ~((places >= 0) & (places < n)).any(1).reshape(along)
        begin = begin * np.int32(n) + first.astype(np.int32).reshape(along)
    return jnp.where(empty, begin, where) if empty.any() else where


def _positions_of_greatest(images: jax.Array, windows: Windows) -> jax.Array:
    """The position in its flattened image of the element that each window picks."""
    nowhere = np.int32(np.iinfo(np.int32).max)
    positions = np.arange(images.shape[1] * images.shape[2], dtype=np.int32)
    positions = jnp.broadcast_to(positions.reshape(1, *images.shape[1:]), images.shape)
    keys = ordered_bits(lax.stop_gradient(images))  # the positions carry no tangent
    nan = greatest_key(keys.dtype) if category(images.dtype) == 2 else None

    def pick(a, b):
        # Any order of comparisons gives the same: values first, then positions.
        (x, i), (y, j) = a, b
        first = j < i if nan is None else (j < i) != (y == nan)
        later = (y > x) | ((y == x) & first)
        return lax.select(later, y, x), lax.select(later, j, i)

    init = (jnp.asarray(np.iinfo(keys.dtype).min, keys.dtype), nowhere)
    _, where = lax.reduce_window(
        (keys, positions),
        init,
        pick,
        (1, *windows.kernel),
        (1, *windows.strides),
        ((0, 0), *windows.pads),
        window_dilation=(1, *windows.dilation),
    )
    return where
