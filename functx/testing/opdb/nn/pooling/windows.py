"""Windows, counted out one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from functx.testing.opinfo import Make, Refusal
from functx.testing.samples import call


WindowPositions = list[list[int]]  # of one dimension, the positions in each of the windows


def positions(
    x: np.ndarray,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    *,
    n: int,
) -> list[WindowPositions]:
    """Of each of the `n` dimensions of an image, the positions in and beside it."""
    stride = kernel_size if stride is None else stride
    options = (np.broadcast_to(v, n).tolist() for v in (kernel_size, stride, padding, dilation))
    return [
        _along(size, k, s, p, d, ceil_mode)
        for size, k, s, p, d in zip(x.shape[-n:], *options, strict=True)
    ]


def _along(
    size: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool
) -> WindowPositions:
    reach = dilation * (kernel - 1)
    beyond = size + 2 * padding - reach - 1  # how far the first window can move
    starts = [stride * i - padding for i in range(beyond // stride + 1)]
    if ceil and beyond % stride and starts[-1] + stride < size:
        starts.append(starts[-1] + stride)
    return [list(range(start, start + reach + 1, dilation)) for start in starts]


def adaptive(x: np.ndarray, output_size: Any, *, n: int) -> list[WindowPositions]:
    """As `positions`, of as many windows as asked for."""
    several = isinstance(output_size, (tuple, list))
    sizes = output_size if several else (output_size,) * n
    return [
        [list(range(i * size // m, -(-(i + 1) * size // m))) for i in range(m)]
        for size, m in (
            (size, size if m is None else m) for size, m in zip(x.shape[-n:], sizes, strict=True)
        )
    ]


def boxes(along: list[WindowPositions]) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
    """The index of each window, and the places in it."""
    for index in np.ndindex(*map(len, along)):
        rows = (windows[i] for windows, i in zip(along, index, strict=True))
        yield index, list(itertools.product(*rows))


def inside(places: list[tuple[int, ...]], sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Those in the image."""
    return [
        place
        for place in places
        if all(0 <= i < size for i, size in zip(place, sizes, strict=True))
    ]


def greatest(x: np.ndarray, along: list[WindowPositions]) -> tuple[np.ndarray, np.ndarray]:
    """The greatest element of each window, and its position in the flattened image."""
    n = len(along)
    sizes = x.shape[-n:]
    flat = x.reshape(*x.shape[:-n], np.prod(sizes))
    where = np.zeros((*x.shape[:-n], *map(len, along)), "int64")
    out = np.zeros(where.shape, x.dtype)
    for index, places in boxes(along):
        seen = np.ravel_multi_index(tuple(np.transpose(inside(places, sizes))), sizes)
        best = seen[flat[..., seen].argmax(-1)]
        where[(..., *index)] = best
        out[(..., *index)] = np.take_along_axis(flat, best[..., None], -1)[..., 0]
    return out, where


def line_refusals(make: Make) -> Iterator[Refusal]:
    """What adaptive pooling over lines refuses."""
    yield Refusal(call(make(4), 2), r"`input` must have 2 dimensions, or 3 with a batch")
    yield Refusal(
        call(make(1, 4), (None,)), r"`output_size` must be an int or a sequence of ints", TypeError
    )
