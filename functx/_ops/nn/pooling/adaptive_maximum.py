"""Pooling into as many windows as asked for: the greatest element of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, operator, Promote, Size
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
    """The greatest elements of as many windows as asked for; see `adaptive_max_pool2d`.

    Shapes: `[N, C, L]` or `[C, L]` gives `[N, C, output_size]` or `[C, output_size]`.

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
    """The greatest elements of as many windows as asked for, placed as those of
    `adaptive_avg_pool2d`.

    Shapes: as there. `return_indices` also gives each result's position `row * W + column` in its
    image. A window with a NaN gives NaN; the gradient goes to the first of the greatest, or to the
    last NaN.

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
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.FLOATING)
def adaptive_max_pool3d(
    input: ArrayLike, output_size: Size | Sequence[Size | None], return_indices: bool = False
) -> Any:
    """The greatest elements of as many windows as asked for; see `adaptive_max_pool2d`.

    Shapes: as for `adaptive_avg_pool3d`.

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
    """The positions in each of `m` windows, its last one again where it is shorter than others."""
    start, end, longest = adaptive_windows(n, m)
    xp = numbers_of(n, m)
    return xp.minimum(start + xp.arange(longest), end - 1)
