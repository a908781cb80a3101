"""The sum of each window, and the number of its elements."""

from __future__ import annotations

import functools as ft
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import category, known, Size
from functx._core.rules.custom_derivatives import derivative_rules

from .placement import Windows


def sums(x: Array, windows: Windows) -> Array:
    """The sum of each window. The padding is zeros."""
    apart = windows.strides == windows.kernel and set(windows.dilation) == {1}
    if apart and category(x.dtype) > 1 and known(*x.shape):
        return _sums_apart(x, windows)
    return _sums(x, windows)


def _sums_apart(x: Array, windows: Windows) -> Array:
    """The sums of windows that lie side by side, of which each element is in one at most.

    So the cotangent of an element is that of its window: XLA would add cotangents and zeros.
    """
    return derivative_rules(
        lambda x: _sums(x, windows),
        jvp=lambda primals, output, tangents: _sums_apart(tangents[0], windows),
        vjp=lambda primals, output, cotangent: (_spread(cotangent, windows),),
        name="avg_pool",
    )(x)


def _spread(x: Array, windows: Windows) -> Array:
    """The transposed map: each element in all places of its window."""

    def forward(x: Array) -> Array:
        plain = x.ndim - len(windows.sizes)
        split = tuple(n for pair in zip(windows.counts, windows.kernel, strict=True) for n in pair)
        places = (*range(plain), *range(plain, plain + len(split), 2))
        out = lax.broadcast_in_dim(x, (*x.shape[:plain], *split), places)
        covered = [n * k for n, k in zip(windows.counts, windows.kernel, strict=True)]
        out = out.reshape(*x.shape[:plain], *covered)
        edges = [(-before, -after, 0) for before, after in windows.pads]
        return lax.pad(out, np.zeros((), x.dtype), [(0, 0, 0)] * plain + edges)

    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: _spread(tangents[0], windows),
        vjp=lambda primals, output, cotangent: (_sums_apart(cotangent, windows),),
        name="avg_pool",
    )(x)


def _sums(x: Array, windows: Windows) -> Array:
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
    """How many positions of each window count; one number along a dimension where all are equal."""
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

    def of_windows(index: Any) -> Any:
        starts = index * stride - padding
        ends = xp.minimum(starts + kernel, size + padding)
        return ends - starts if with_padding else xp.minimum(ends, size) - xp.maximum(starts, 0)

    if known(size):
        # The count is concave in the index. So all are equal if the first, the last and one between
        # them are.
        first, *others = of_windows(np.array([0, windows // 2, windows - 1]))
        if all(first == other for other in others):
            return np.array([first])
    return of_windows(xp.arange(windows))
