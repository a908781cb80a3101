"""Pooling: the mean of each window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, available, category, LONG, operator, refuse
from functx._ops.quotients import quotient

from .placement import placed


__all__ = ["avg_pool2d"]


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
    if divisor_override == 0:
        refuse("`divisor_override` must not be 0", error=ValueError)
    windows = placed(input, kernel_size, stride, padding, 1, ceil_mode, n=2)
    whole = (1,) * (input.ndim - 2)
    integral = category(input.dtype) == 1
    x = input.astype(available(LONG)) if integral else input
    total = lax.reduce_window(
        x,
        np.zeros((), x.dtype),
        lax.add,
        (*whole, *windows.kernel),
        (*whole, *windows.strides),
        (*[(0, 0)] * len(whole), *windows.pads),
    )
    if divisor_override is not None:
        counts = np.asarray(divisor_override)
    else:
        rows, columns = (
            _counted(*each, with_padding=count_include_pad) for each in zip(*windows, strict=True)
        )
        counts = rows[:, None] * columns
    counts = np.broadcast_to(counts.astype(x.dtype), total.shape)
    return lax.div(total, counts).astype(input.dtype) if integral else quotient(total, counts)


def _counted(
    size: int,
    kernel: int,
    stride: int,
    padding: int,
    dilation: int,
    windows: int,
    *,
    with_padding: bool,
) -> np.ndarray:
    """How many positions of each window count, along one dimension."""
    starts = np.arange(windows) * stride - padding
    ends = np.minimum(starts + kernel, size + padding)
    return ends - starts if with_padding else np.minimum(ends, size) - np.maximum(starts, 0)
