"""Pooling: the mean of each window."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, available, category, LONG, operator, refuse
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
    """The mean of each window; see `avg_pool2d`. Shapes as for `max_pool1d`.

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
    """The mean of each window. Shapes as for `max_pool2d`.

    - `stride`: `kernel_size` unless given.
    - `padding`: zeros, at most half of the kernel on either side.
    - `ceil_mode`: keeps a last window that reaches beyond the padding; what lies there is never
      counted.
    - `count_include_pad`: whether the padding counts in the denominator.
    - `divisor_override`: the denominator of every window.

    Dtypes: the mean of integers is rounded towards zero.

    >>> functx.nn.functional.avg_pool2d(jnp.arange(4, dtype="float32").reshape(1, 2, 2), 2)
    Array([[[1.5]]], dtype=float32)
    """
    windows = placed(input, kernel_size, stride, padding, 1, ceil_mode, n=2)
    return _means(input, windows, count_include_pad, divisor_override)


@operator(accepts=Accepts.REAL_NUMBER)
def avg_pool3d(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """The mean of each window; see `avg_pool2d`. Shapes as for `max_pool3d`.

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
