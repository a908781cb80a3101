"""The sum of each window, and the number of its elements."""

from __future__ import annotations

import functools as ft
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import known, Size

from .placement import Windows


def sums(x: Array, windows: Windows) -> Array:
    """The sum of each window. The padding is zeros."""
    whole, zero = (1,) * (x.ndim - len(windows.sizes)), np.zeros((), x.dtype)
    x, pads = windows.around(x, zero)
    return lax.reduce_window(
        x,
        zero,
        lax.add,
        (*whole, *windows.kernel),
        (*whole, *windows.strides),
        (*[(0, 0)] * len(whole), *pads),
    )


def elements(windows: Windows, *, with_padding: bool) -> np.ndarray | Array:
    """How many positions of each window count."""
    along = (_counted(*each, with_padding=with_padding) for each in zip(*windows, strict=True))
    return ft.reduce(lambda a, b: a[..., None] * b, along)


def _counted(
    size: Size,
    kernel: int,
    stride: int,
    padding: int,
    dilation: int,
    windows: Size,
    *,
    with_padding: bool,
) -> np.ndarray | Array:
    """How many positions of each window count, along one dimension."""
    xp: Any = np if known(size) else jnp
    starts = xp.arange(windows) * stride - padding
    ends = xp.minimum(starts + kernel, size + padding)
    return ends - starts if with_padding else xp.minimum(ends, size) - xp.maximum(starts, 0)
