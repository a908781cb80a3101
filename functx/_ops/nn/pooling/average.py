"""Pooling: the mean of each window."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, Autocast, available, category, LONG, operator, refuse
from functx._ops.quotients import quotient

from .placement import placed, Windows
from .totals import elements, sums


__all__ = ["avg_pool1d", "avg_pool2d", "avg_pool3d"]


@operator(accepts=Accepts.REAL_NUMBER, aliases=("avg_pool1d",))
def avg_pool1d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:
    """The mean of each window.

    Shapes: `input: [N, C, L]` or `[C, L]` gives `[N, C, L']` or `[C, L']` with
    `L' = (L + 2 padding - kernel_size) // stride + 1`, rounded up instead of down if `ceil_mode`.

    - `kernel_size`: how many elements a window has.
    - `stride`: how far apart neighbouring windows are; `kernel_size` if it is None.
    - `padding`: how many zeros are added on either side, at most half of the kernel.
    - `ceil_mode`: whether to keep a last window that starts inside the input and reaches beyond the
      padding; what lies beyond the padding is never counted.
    - `count_include_pad`: whether the zeros of the padding count in the denominator.

    `kernel_size`, `stride` and `padding` are an int or a sequence of one.
    Dtypes: that of `input`; the mean of integers is rounded towards zero.
    Errors: RuntimeError for an input that is empty, smaller than a window or of another rank,
    ValueError for options out of range.

    >>> functx.avg_pool1d(jnp.arange(4, dtype="float32").reshape(1, 4), 2)
    Array([[0.5, 2.5]], dtype=float32)
    """
    windows = placed(input, kernel_size, stride, padding, 1, ceil_mode, n=1)
    return _means(input, windows, count_include_pad)


@operator(accepts=Accepts.REAL_NUMBER)
def avg_pool2d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """The mean of each window.

    Shapes: `input: [N, C, H, W]` or `[C, H, W]` gives `[N, C, H', W']` or `[C, H', W']` with
    `H' = (H + 2 padding - kernel_size) // stride + 1`, rounded up instead of down if `ceil_mode`,
    and `W'` alike.

    - `kernel_size`: the sizes of a window.
    - `stride`: how far apart neighbouring windows are; `kernel_size` if it is None.
    - `padding`: how many zeros are added on either side, at most half of the kernel.
    - `ceil_mode`: whether to keep a last window that starts inside the input and reaches beyond the
      padding; what lies beyond the padding is never counted.
    - `count_include_pad`: whether the zeros of the padding count in the denominator.
    - `divisor_override`: the denominator of every window, if it is not None.

    `kernel_size`, `stride` and `padding` are one int for both dimensions, or a sequence of two.
    Dtypes: that of `input`; the mean of integers is rounded towards zero.
    Errors: RuntimeError for an input that is empty, smaller than a window or of another rank,
    ValueError for options out of range.

    >>> functx.nn.functional.avg_pool2d(jnp.arange(4, dtype="float32").reshape(1, 2, 2), 2)
    Array([[[1.5]]], dtype=float32)
    """
    windows = placed(input, kernel_size, stride, padding, 1, ceil_mode, n=2)
    return _means(input, windows, count_include_pad, divisor_override)


@operator(accepts=Accepts.REAL_NUMBER, autocast_cpu=Autocast.FLOAT32)
def avg_pool3d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """The mean of each window.

    Shapes: `input: [N, C, D, H, W]` or `[C, D, H, W]` gives `[N, C, D', H', W']` or
    `[C, D', H', W']` with `D' = (D + 2 padding - kernel_size) // stride + 1`, rounded up instead of
    down if `ceil_mode`, and `H'` and `W'` alike.

    - `kernel_size`: the sizes of a window.
    - `stride`: how far apart neighbouring windows are; `kernel_size` if it is None.
    - `padding`: how many zeros are added on either side, at most half of the kernel.
    - `ceil_mode`: whether to keep a last window that starts inside the input and reaches beyond the
      padding; what lies beyond the padding is never counted.
    - `count_include_pad`: whether the zeros of the padding count in the denominator.
    - `divisor_override`: the denominator of every window, if it is not None.

    `kernel_size`, `stride` and `padding` are one int for all dimensions, or a sequence of three.
    Dtypes: that of `input`; the mean of integers is rounded towards zero.
    Errors: RuntimeError for an input that is empty, smaller than a window or of another rank,
    ValueError for options out of range.

    >>> functx.nn.functional.avg_pool3d(jnp.arange(8, dtype="float32").reshape(1, 2, 2, 2), 2)
    Array([[[[3.5]]]], dtype=float32)
    """
    windows = placed(input, kernel_size, stride, padding, 1, ceil_mode, n=3)
    return _means(input, windows, count_include_pad, divisor_override)


def _means(
    input: Array, windows: Windows, count_include_pad: bool, divisor_override: int | None = None
) -> Array:
    if divisor_override == 0:
        refuse("`divisor_override` must not be 0", error=ValueError)
    integral = category(input.dtype) == 1
    total = sums(input.astype(available(LONG)) if integral else input, windows)
    if divisor_override is not None:
        counts = np.asarray(divisor_override)
    else:
        counts = elements(windows, with_padding=count_include_pad)
    counts = counts.astype(total.dtype)
    if not integral:
        return quotient(total, counts)
    return lax.div(total, jnp.broadcast_to(counts, total.shape)).astype(input.dtype)
