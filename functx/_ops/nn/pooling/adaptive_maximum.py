"""Adaptive maximum pooling: the greatest element of each of a given number of windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, Autocast, operator, Promote, Size
from functx._ops.nn.taps import adaptive_windows, numbers_of

from .asked_sizes import asked_sizes
from .greatest import answer, as_images, Contest, MaxPoolResult, read_at
from .placement import require_image


__all__ = ["adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"]


@overload
def adaptive_max_pool1d(
    input: ArrayLike, output_size: Size | Sequence[Size], return_indices: Literal[False] = False
) -> Array: ...
@overload
def adaptive_max_pool1d(
    input: ArrayLike, output_size: Size | Sequence[Size], return_indices: Literal[True]
) -> MaxPoolResult: ...
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.FLOATING)
def adaptive_max_pool1d(
    input: ArrayLike, output_size: Size | Sequence[Size], return_indices: bool = False
) -> Any:
    r"""The greatest elements of `output_size` windows, which cover the input: window $i$ of $m$
    covers $[\lfloor i n / m \rfloor, \lceil (i + 1) n / m \rceil)$ of $n$ elements.

    Shapes: `input: [N, C, L]` or `[C, L]` gives `[N, C, output_size]` or `[C, output_size]`.

    - `output_size`: the number of windows, an int or a sequence of one.
    - `return_indices`: whether the result is `(output, indices)`, with the position of each
      greatest element in its row, int64.

    A window with a NaN gives NaN.
    Gradients: the gradient of a window goes to the first of its greatest elements, or to the last
    NaN.
    Errors: RuntimeError for an input without elements or of another rank, ValueError for a negative
    `output_size`.

    >>> x = jnp.arange(3, dtype="float32").reshape(1, 3)
    >>> functx.nn.functional.adaptive_max_pool1d(x, 2)
    Array([[1., 2.]], dtype=float32)
    """
    return _greatest(1, input, output_size, return_indices)


@overload
def adaptive_max_pool2d(
    input: ArrayLike,
    output_size: Size | Sequence[Size | None],
    return_indices: Literal[False] = False,
) -> Array: ...
@overload
def adaptive_max_pool2d(
    input: ArrayLike, output_size: Size | Sequence[Size | None], return_indices: Literal[True]
) -> MaxPoolResult: ...
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.FLOATING)
def adaptive_max_pool2d(
    input: ArrayLike, output_size: Size | Sequence[Size | None], return_indices: bool = False
) -> Any:
    r"""The greatest elements of `output_size` windows, which cover the input: window $i$ of $m$
    covers $[\lfloor i n / m \rfloor, \lceil (i + 1) n / m \rceil)$ of $n$ elements along each
    dimension.

    Shapes: `input: [N, C, H, W]` or `[C, H, W]` gives `[N, C, *output_size]` or
    `[C, *output_size]`.

    - `output_size`: the number of windows along the height and the width: one int for both, or a
      sequence of two, in which None keeps the size of the input.
    - `return_indices`: whether the result is `(output, indices)`, with the position
      `row * W + column` of each greatest element in its image, int64.

    A window with a NaN gives NaN.
    Gradients: the gradient of a window goes to the first of its greatest elements, or to the last
    NaN.
    Errors: RuntimeError for an input without elements or of another rank, ValueError for a negative
    `output_size`.

    >>> x = jnp.arange(4, dtype="float32").reshape(1, 2, 2)
    >>> functx.nn.functional.adaptive_max_pool2d(x, (1, None), return_indices=True).indices
    Array([[[2, 3]]], dtype=int64)
    """
    return _greatest(2, input, output_size, return_indices)


@overload
def adaptive_max_pool3d(
    input: ArrayLike,
    output_size: Size | Sequence[Size | None],
    return_indices: Literal[False] = False,
) -> Array: ...
@overload
def adaptive_max_pool3d(
    input: ArrayLike, output_size: Size | Sequence[Size | None], return_indices: Literal[True]
) -> MaxPoolResult: ...
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.FLOATING, autocast_cpu=Autocast.FLOAT32)
def adaptive_max_pool3d(
    input: ArrayLike, output_size: Size | Sequence[Size | None], return_indices: bool = False
) -> Any:
    r"""The greatest elements of `output_size` windows, which cover the input: window $i$ of $m$
    covers $[\lfloor i n / m \rfloor, \lceil (i + 1) n / m \rceil)$ of $n$ elements along each
    dimension.

    Shapes: `input: [N, C, D, H, W]` or `[C, D, H, W]` gives `[N, C, *output_size]` or
    `[C, *output_size]`.

    - `output_size`: the number of windows along each of the last three dimensions: one int for all,
      or a sequence of three, in which None keeps the size of the input.
    - `return_indices`: whether the result is `(output, indices)`, with the position
      `(plane * H + row) * W + column` of each greatest element in its volume, int64.

    A window with a NaN gives NaN.
    Gradients: the gradient of a window goes to the first of its greatest elements, or to the last
    NaN.
    Errors: RuntimeError for an input without elements or of another rank, ValueError for a negative
    `output_size`.

    >>> x = jnp.arange(8, dtype="float32").reshape(1, 2, 2, 2)
    >>> functx.nn.functional.adaptive_max_pool3d(x, (2, 1, 1)).ravel()
    Array([3., 7.], dtype=float32)
    """
    return _greatest(3, input, output_size, return_indices)


def _greatest(
    n: int, input: Array, output_size: Size | Sequence[Size | None], return_indices: bool
) -> Array | MaxPoolResult:
    require_image(input, n)
    images = as_images(input, n)
    contest = Contest(images)
    keys, positions = contest.keys, contest.positions
    for axis, m in enumerate(asked_sizes(output_size, input.shape[-n:]), 1):
        reads = _reads(images.shape[axis], m)
        spread = tuple(jnp.take(x, reads, axis, mode="clip") for x in (keys, positions))
        keys, positions = lax.reduce(spread, contest.least, contest.winner, (axis + 1,))
    return answer(input, read_at(images, positions), positions, return_indices=return_indices)


def _reads(n: Size, m: Size) -> np.ndarray | Array:
    """The positions in each of `m` windows; a window that is shorter than others repeats its last
    position.
    """
    start, end, longest = adaptive_windows(n, m)
    xp = numbers_of(n, m)
    return xp.minimum(start + xp.arange(longest), end - 1)
