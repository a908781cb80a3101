"""Pooling: the greatest element of each window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import Accepts, ArrayLike, as_number, known, operator, Promote

from .greatest import answer, as_images, MaxPoolResult, positions_of_greatest, read_at
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
    """The greatest element of each window, over one dimension; see `max_pool2d`.

    Shapes: `[N, C, L]` or `[C, L]` gives `[N, C, L']` or `[C, L']`.

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
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL_NUMBER, aliases=("max_pool3d",))
def max_pool3d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The greatest element of each window, over three dimensions; see `max_pool2d`.

    Shapes: `[N, C, D, H, W]` or `[C, D, H, W]` gives `[N, C, D', H', W']` or `[C, D', H', W']`.

    >>> functx.max_pool3d(jnp.arange(8, dtype="float32").reshape(1, 2, 2, 2), (1, 2, 2))
    Array([[[[3.]],
    <BLANKLINE>
            [[7.]]]], dtype=float32)
    """
    windows = placed(input, kernel_size, stride, padding, dilation, ceil_mode, n=3)
    return _pooled(input, windows, return_indices)


def _pooled(input: Array, windows: Windows, return_indices: bool) -> Array | MaxPoolResult:
    images = as_images(input, len(windows.sizes))
    where = positions_of_greatest(images, windows)
    out = read_at(images, where)
    where = _where_nothing_is(windows, where)
    return answer(input, out, where, return_indices=return_indices)


def _where_nothing_is(windows: Windows, where: jax.Array) -> jax.Array:
    """Positions, of windows over padding alone: of their first place not before the image."""
    xp: Any = np if known(*windows.sizes) else jnp
    empty, begin = xp.asarray(False), xp.asarray(0, np.int32)
    for axis, (n, k, s, p, d, count) in enumerate(zip(*windows, strict=True)):
        places = xp.arange(count)[:, None] * s - p + np.arange(k) * d
        first = xp.where(places[:, 0] < 0, places[:, 0] % d, places[:, 0])
        along = [count if i == axis else 1 for i in range(len(windows.sizes))]
        empty = empty | ~((places >= 0) & (places < n)).any(1).reshape(along)
        begin = begin * as_number(n, np.int32) + first.astype(np.int32).reshape(along)
    return jnp.where(empty, begin, where) if xp is jnp or empty.any() else where
