"""Adaptive average pooling: the means of a given number of windows."""

from __future__ import annotations

from collections.abc import Sequence

from jax import Array

from functx._core import Accepts, ArrayLike, Autocast, describe, operator, refuse, Size
from functx._ops.nn.resampling import averaged

from .asked_sizes import asked_sizes


__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"]


@operator(accepts=Accepts.FLOATING, aliases=("adaptive_avg_pool1d",))
def adaptive_avg_pool1d(input: ArrayLike, output_size: Size | Sequence[Size]) -> Array:
    r"""The means of `output_size` windows, which cover the input: window $i$ of $m$ covers
    $[\lfloor i n / m \rfloor, \lceil (i + 1) n / m \rceil)$ of $n$ elements.

    Shapes: `input: [N, C, L]` or `[C, L]` gives `[N, C, output_size]` or `[C, output_size]`.

    - `output_size`: the number of windows, an int or a sequence of one.

    Errors: RuntimeError for an input without elements or of another rank, ValueError for a negative
    `output_size`.

    >>> functx.adaptive_avg_pool1d(jnp.arange(3, dtype="float32").reshape(1, 3), 2)
    Array([[0.5, 1.5]], dtype=float32)
    """
    return _means(1, input, output_size)


@operator(accepts=Accepts.FLOATING)
def adaptive_avg_pool2d(input: ArrayLike, output_size: Size | Sequence[Size | None]) -> Array:
    r"""The means of `output_size` windows, which cover the input: window $i$ of $m$ covers
    $[\lfloor i n / m \rfloor, \lceil (i + 1) n / m \rceil)$ of $n$ elements along each dimension.

    Shapes: `input: [N, C, H, W]` or `[C, H, W]` gives `[N, C, *output_size]` or
    `[C, *output_size]`.

    - `output_size`: the number of windows along the height and the width: one int for both, or a
      sequence of two, in which None keeps the size of the input.

    Errors: RuntimeError for an input without elements or of another rank, ValueError for a negative
    `output_size`.

    >>> functx.nn.functional.adaptive_avg_pool2d(jnp.ones((1, 3, 4), "float32"), (None, 1)).shape
    (1, 3, 1)
    """
    return _means(2, input, output_size)


@operator(accepts=Accepts.FLOATING, autocast_cpu=Autocast.FLOAT32)
def adaptive_avg_pool3d(input: ArrayLike, output_size: Size | Sequence[Size | None]) -> Array:
    r"""The means of `output_size` windows, which cover the input: window $i$ of $m$ covers
    $[\lfloor i n / m \rfloor, \lceil (i + 1) n / m \rceil)$ of $n$ elements along each dimension.

    Shapes: `input: [N, C, D, H, W]` or `[C, D, H, W]` gives `[N, C, *output_size]` or
    `[C, *output_size]`.

    - `output_size`: the number of windows along each of the last three dimensions: one int for all,
      or a sequence of three, in which None keeps the size of the input.

    Errors: RuntimeError for an input without elements or of another rank, ValueError for a negative
    `output_size`.

    >>> x = jnp.arange(8, dtype="float32").reshape(1, 2, 2, 2)
    >>> functx.nn.functional.adaptive_avg_pool3d(x, (None, 1, 1)).shape
    (1, 2, 1, 1)
    """
    return _means(3, input, output_size)


def _means(n: int, input: Array, output_size: Size | Sequence[Size | None]) -> Array:
    if input.ndim not in (n + 1, n + 2) or 0 in input.shape[input.ndim - n :]:
        refuse(
            f"`input` must have {n + 1} dimensions, or {n + 2} with a batch, and elements in each "
            f"channel, got {describe(input)}"
        )
    sizes = asked_sizes(output_size, input.shape[input.ndim - n :])
    for axis, size in enumerate(sizes, input.ndim - n):
        input = averaged(input, axis, size)
    return input
