"""The sum of each window, and how many elements it has."""

from __future__ import annotations

import functools as ft

import numpy as np
from jax import Array, lax

from .placement import Windows


def sums(x: Array, windows: Windows) -> Array:
    """Of each window, the padding being zeros."""
    whole = (1,) * (x.ndim - len(windows.sizes))
    return lax.reduce_window(
        x,
        np.zeros((), x.dtype),
        lax.add,
        (*whole, *windows.kernel),
        (*whole, *windows.strides),
        (*[(0, 0)] * len(whole), *windows.pads),
    )


def elements(windows: Windows, *, with_padding: bool) -> np.ndarray:
    """How many positions of each window count."""
    along = (_counted(*each, with_padding=with_padding) for each in zip(*windows, strict=True))
    return ft.reduce(np.multiply.outer, along)


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
