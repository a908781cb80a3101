"""Pooling: the greatest element of each window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import Accepts, ArrayLike, as_number, Autocast, known, operator, Promote

from .greatest import (
    answer,
    as_images,
    greatest_of,
    MaxPoolResult,
    positions_of_greatest,
    read_at,
)
from .placement import placed, Windows


__all__ = ["max_pool1d", "max_pool2d", "max_pool3d"]


@overload
def max_pool1d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Array: ...
@overload
def max_pool1d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> MaxPoolResult: ...
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.FLOATING, aliases=("max_pool1d",))
def max_pool1d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest element of each window.

    Shapes: `input: [N, C, L]` or `[C, L]` gives `[N, C, L']` or `[C, L']` with
    `L' = (L + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1`, rounded up instead of
    down if `ceil_mode`.

    - `kernel_size`: how many elements a window has.
    - `stride`: how far apart neighbouring windows are; `kernel_size` if it is None.
    - `padding`: how many places are added on either side, at most half of the kernel; they never
      count.
    - `dilation`: how far apart neighbouring elements of a window are.
    - `ceil_mode`: whether to keep a last window that starts inside the input and reaches beyond the
      padding.
    - `return_indices`: whether the result is `(output, indices)`, with the position of each
      greatest element in its row, int64. The index of a window that holds padding alone, whose
      value is the least of the dtype, may lie outside of the input.

    `kernel_size`, `stride`, `padding` and `dilation` are an int or a sequence of one. A window with
    a NaN gives NaN.
    Gradients: the gradient of a window goes to the first of its greatest elements, or to the last
    NaN.
    Errors: RuntimeError for an input that is empty, smaller than a window or of another rank,
    ValueError for options out of range.

    >>> functx.max_pool1d(jnp.arange(4, dtype="float32").reshape(1, 4), 2)
    Array([[1., 3.]], dtype=float32)
    """
    windows = placed(input, kernel_size, stride, padding, dilation, ceil_mode, n=1)
    return _pooled(input, windows, return_indices)


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

    Shapes: `input: [N, C, H, W]` or `[C, H, W]` gives `[N, C, H', W']` or `[C, H', W']` with
    `H' = (H + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1`, rounded up instead of
    down if `ceil_mode`, and `W'` alike.

    - `kernel_size`: the sizes of a window.
    - `stride`: how far apart neighbouring windows are; `kernel_size` if it is None.
    - `padding`: how many places are added on either side, at most half of the kernel; they never
      count.
    - `dilation`: how far apart neighbouring elements of a window are.
    - `ceil_mode`: whether to keep a last window that starts inside the input and reaches beyond the
      padding.
    - `return_indices`: whether the result is `(output, indices)`, with the position
      `row * W + column` of each greatest element in its image, int64. The index of a window that
      holds padding alone, whose value is the least of the dtype, may lie outside of the image.

    `kernel_size`, `stride`, `padding` and `dilation` are one int for both dimensions, or a sequence
    of two. A window with a NaN gives NaN.
    Gradients: the gradient of a window goes to the first of its greatest elements, or to the last
    NaN.
    Errors: RuntimeError for an input that is empty, smaller than a window or of another rank,
    ValueError for options out of range.

    >>> functx.nn.functional.max_pool2d(jnp.arange(4, dtype="float32").reshape(1, 2, 2), 2)
    Array([[[3.]]], dtype=float32)
    """
    windows = placed(input, kernel_size, stride, padding, dilation, ceil_mode, n=2)
    return _pooled(input, windows, return_indices)


@overload
def max_pool3d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> Array: ...
@overload
def max_pool3d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> MaxPoolResult: ...
@operator(
    promote=Promote.NO_OPMATH,
    accepts=Accepts.REAL_NUMBER,
    aliases=("max_pool3d",),
    autocast_cpu=Autocast.FLOAT32,
)
def max_pool3d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest element of each window.

    Shapes: `input: [N, C, D, H, W]` or `[C, D, H, W]` gives `[N, C, D', H', W']` or
    `[C, D', H', W']` with `D' = (D + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1`,
    rounded up instead of down if `ceil_mode`, and `H'` and `W'` alike.

    - `kernel_size`: the sizes of a window.
    - `stride`: how far apart neighbouring windows are; `kernel_size` if it is None.
    - `padding`: how many places are added on either side, at most half of the kernel; they never
      count.
    - `dilation`: how far apart neighbouring elements of a window are.
    - `ceil_mode`: whether to keep a last window that starts inside the input and reaches beyond the
      padding.
    - `return_indices`: whether the result is `(output, indices)`, with the position
      `(plane * H + row) * W + column` of each greatest element in its volume, int64. The index of a
      window that holds padding alone, whose value is the least of the dtype, may lie outside of the
      volume.

    `kernel_size`, `stride`, `padding` and `dilation` are one int for all dimensions, or a sequence
    of three. A window with a NaN gives NaN.
    Gradients: the gradient of a window goes to the first of its greatest elements, or to the last
    NaN.
    Errors: RuntimeError for an input that is empty, smaller than a window or of another rank,
    ValueError for options out of range.

    >>> functx.max_pool3d(jnp.arange(8, dtype="float32").reshape(1, 2, 2, 2), (1, 2, 2))
    Array([[[[3.]],
    <BLANKLINE>
            [[7.]]]], dtype=float32)
    """
    windows = placed(input, kernel_size, stride, padding, dilation, ceil_mode, n=3)
    return _pooled(input, windows, return_indices)


def _pooled(input: Array, windows: Windows, return_indices: bool) -> Array | MaxPoolResult:
    n = len(windows.sizes)
    images = as_images(input, n)
    if not return_indices:
        return greatest_of(images, windows).reshape(*input.shape[:-n], *windows.counts)
    where = positions_of_greatest(images, windows)
    out = read_at(images, where)
    where = _where_nothing_is(windows, where)
    return answer(input, out, where, return_indices=return_indices)


def _where_nothing_is(windows: Windows, where: jax.Array) -> jax.Array:
    """Positions, in which each window over padding alone gets its first place that does not lie
    before the image.
    """
    xp: Any = np if known(*windows.sizes) else jnp
    empty, begin = xp.asarray(False), xp.asarray(0, np.int32)
    for axis, (n, k, s, p, d, count) in enumerate(zip(*windows, strict=True)):
        places = xp.arange(count)[:, None] * s - p + np.arange(k) * d
        first = xp.where(places[:, 0] < 0, places[:, 0] % d, places[:, 0])
        along = [count if i == axis else 1 for i in range(len(windows.sizes))]
        empty = empty | ~((places >= 0) & (places < n)).any(1).reshape(along)
        begin = begin * as_number(n, np.int32) + first.astype(np.int32).reshape(along)
    return jnp.where(empty, begin, where) if xp is jnp or empty.any() else where
