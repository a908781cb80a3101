"""Pooling: the greatest or the mean of each window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    available,
    category,
    describe,
    LONG,
    lowest,
    operator,
    Promote,
    refuse,
)

from .resampling import average_taps, resample
from .windows import per_dimension, pooled_size, require_image, require_windows


__all__ = ["adaptive_avg_pool2d", "avg_pool2d", "max_pool2d"]


class MaxPoolResult(NamedTuple):
    """The greatest values, and where they are in each flattened image."""

    output: Array
    indices: Array


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL_NUMBER)
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
    - `return_indices`: also gives each result's position `row * W + column` in its image.

    A window with a NaN gives NaN. The gradient goes to one element of each window: the first of
    the greatest, or the last NaN.

    >>> functx.nn.functional.max_pool2d(jnp.arange(4, dtype="float32").reshape(1, 2, 2), 2)
    Array([[[3.]]], dtype=float32)
    """
    kernel, strides, pads = _window_options(input, kernel_size, stride, padding, dilation)
    dilations = per_dimension(dilation, 2, "dilation", least=1)
    sizes = input.shape[-2:]
    out_sizes = [
        pooled_size(*each, ceil_mode)
        for each in zip(sizes, kernel, strides, pads, dilations, strict=True)
    ]
    require_windows(out_sizes, input)
    reach = [
        (o - 1) * s + d * (k - 1) + 1 - n - p
        for o, s, d, k, n, p in zip(out_sizes, strides, dilations, kernel, sizes, pads, strict=True)
    ]
    batch = input.shape[:-2]
    images = input.reshape(math.prod(batch), *sizes)
    where = _positions_of_greatest(
        images, kernel, strides, dilations, list(zip(pads, reach, strict=True))
    )
    out = jnp.take_along_axis(
        images.reshape(len(images), math.prod(sizes)),
        where.reshape(len(images), math.prod(out_sizes)),
        axis=1,
        mode="fill",
        fill_value=lowest(input.dtype),
    )
    out = out.reshape(*batch, *out_sizes)
    if not return_indices:
        return out
    return MaxPoolResult(out, where.astype(available(LONG)).reshape(out.shape))


def _positions_of_greatest(
    images: jax.Array,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[tuple[int, int]],
) -> jax.Array:
    """The position in its flattened image of the element that each window picks."""
    nowhere = np.int32(np.iinfo(np.int32).max)
    positions = np.arange(images.shape[1] * images.shape[2], dtype=np.int32)
    positions = jnp.broadcast_to(positions.reshape(1, *images.shape[1:]), images.shape)
    floating = category(images.dtype) == 2

    def pick(a, b):
        # Any order of comparisons gives the same: values first, then positions.
        (x, i), (y, j) = a, b
        later = (y > x) | ((y == x) & (j < i))
        if floating:
            later |= (y != y) & ((x == x) | (j > i))
        return lax.select(later, y, x), lax.select(later, j, i)

    init = (jnp.asarray(lowest(images.dtype), images.dtype), nowhere)
    _, where = lax.reduce_window(
        (lax.stop_gradient(images), positions),  # the positions carry no tangent
        init,
        pick,
        (1, *kernel),
        (1, *strides),
        ((0, 0), *pads),
        window_dilation=(1, *dilations),
    )
    return where


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
    """The mean of each window. Shapes as for `max_pool2d`.

    - `padding`: zeros, at most half of the kernel on either side.
    - `ceil_mode`: keeps a last window that reaches beyond the padding; what lies there is never
      counted.
    - `count_include_pad`: whether the padding counts in the denominator.
    - `divisor_override`: the denominator of every window.

    Dtypes: the mean of integers is rounded towards zero.

    >>> functx.nn.functional.avg_pool2d(jnp.arange(4, dtype="float32").reshape(1, 2, 2), 2)
    Array([[[1.5]]], dtype=float32)
    """
    kernel, strides, pads = _window_options(input, kernel_size, stride, padding, 1)
    if divisor_override == 0:
        refuse("`divisor_override` must not be 0", error=ValueError)
    options = list(zip(input.shape[-2:], kernel, strides, pads, strict=True))
    out_sizes = [pooled_size(n, k, s, p, 1, ceil_mode) for n, k, s, p in options]
    require_windows(out_sizes, input)
    reach = [(o - 1) * s + k - n - p for o, (n, k, s, p) in zip(out_sizes, options, strict=True)]
    whole = (1,) * (input.ndim - 2)
    total = lax.reduce_window(
        input,
        np.zeros((), input.dtype),
        lax.add,
        (*whole, *kernel),
        (*whole, *strides),
        (*[(0, 0)] * len(whole), *zip(pads, reach, strict=True)),
    )
    if divisor_override is not None:
        counts = np.asarray(divisor_override)
    else:
        rows, columns = (
            _counted(o, *each, count_include_pad)
            for o, each in zip(out_sizes, options, strict=True)
        )
        counts = rows[:, None] * columns
    if category(input.dtype) == 1:
        counts = counts.astype(input.dtype)
        return lax.div(total, jnp.broadcast_to(counts, total.shape))
    return total / counts.astype(input.dtype)


def _counted(
    windows: int, size: int, kernel: int, stride: int, padding: int, with_padding: bool
) -> np.ndarray:
    """How many positions of each window count, along one dimension."""
    starts = np.arange(windows) * stride - padding
    ends = np.minimum(starts + kernel, size + padding)
    return ends - starts if with_padding else np.minimum(ends, size) - np.maximum(starts, 0)


def _window_options(input, kernel_size, stride, padding, dilation):
    require_image(input, 2)
    kernel = per_dimension(kernel_size, 2, "kernel_size", least=1)
    given = stride is not None and stride != ()
    strides = per_dimension(stride, 2, "stride", least=1) if given else kernel
    pads = per_dimension(padding, 2, "padding")
    dilations = per_dimension(dilation, 2, "dilation", least=1)
    for k, p, d in zip(kernel, pads, dilations, strict=True):
        if p > (d * (k - 1) + 1) // 2:
            refuse(
                f"`padding` must be at most half of the kernel, got padding={padding}, "
                f"kernel_size={kernel_size} and dilation={dilation}",
                error=ValueError,
            )
    return kernel, strides, pads


@operator(accepts=Accepts.FLOATING)
def adaptive_avg_pool2d(input: ArrayLike, output_size: int | None | Sequence[int | None]) -> Array:
    r"""The means of as many windows as asked for: window $i$ of $m$ covers
    $[\lfloor i n / m \rfloor, \lceil (i + 1) n / m \rceil)$.

    Shapes: `[N, C, H, W]` or `[C, H, W]` gives `[N, C, *output_size]` or `[C, *output_size]`; one
    int stands for both sizes, None keeps the size of the input.

    >>> functx.nn.functional.adaptive_avg_pool2d(jnp.ones((1, 3, 4), "float32"), (None, 1)).shape
    (1, 3, 1)
    """
    if input.ndim not in (3, 4) or 0 in input.shape[-2:]:
        refuse(f"`input` must be [N, C, H, W] or [C, H, W], not empty, got {describe(input)}")
    several = isinstance(output_size, (tuple, list))
    sizes = tuple(output_size) if several else (output_size,) * 2
    if len(sizes) != 2:
        refuse(f"`output_size` must be an int or 2 of them, got {output_size}", error=ValueError)
    kept = [n if size is None else size for size, n in zip(sizes, input.shape[-2:], strict=True)]
    kept = per_dimension(tuple(kept), 2, "output_size")
    for axis, size in zip((-2, -1), kept, strict=True):
        input = resample(input, axis, *average_taps(input.shape[axis], size))
    return input
