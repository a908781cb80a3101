"""Windows, counted out one by one."""

from __future__ import annotations

from typing import Any

import numpy as np


def positions(
    x: np.ndarray, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> list[list[list[int]]]:
    """Of both dimensions of an image, the positions in each of the windows."""
    stride = kernel_size if stride is None else stride
    pairs = (np.broadcast_to(v, 2).tolist() for v in (kernel_size, stride, padding, dilation))
    return [
        _along(n, k, s, p, d, ceil_mode) for n, k, s, p, d in zip(x.shape[-2:], *pairs, strict=True)
    ]


def _along(
    n: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> list[list[int]]:
    """The positions in the input and in the padding of each window along one dimension."""
    reach = dilation * (kernel - 1)
    beyond = n + 2 * padding - reach - 1  # how far the first window can move
    starts = [stride * i - padding for i in range(beyond // stride + 1)]
    if ceil_mode and beyond % stride and starts[-1] + stride < n:
        starts.append(starts[-1] + stride)
    return [list(range(start, start + reach + 1, dilation)) for start in starts]
