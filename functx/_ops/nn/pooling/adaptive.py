"""Pooling into as many windows as asked for: their means."""

from __future__ import annotations

from collections.abc import Sequence

from jax import Array

from functx._core import Accepts, ArrayLike, describe, operator, refuse, Size
from functx._ops.nn.resampling import averaged

from .asked_sizes import asked_sizes


__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"]


@operator(accepts=Accepts.FLOATING, aliases=("adaptive_avg_pool1d",))
def adaptive_avg_pool1d(input: ArrayLike, output_size: Size | Sequence[Size]) -> Array:
    """The means of as many windows as asked for; see `adaptive_avg_pool2d`.

    Shapes: `[N, C, L]` or `[C, L]` gives `[N, C, output_size]` or `[C, output_size]`.

    >>> functx.adaptive_avg_pool1d(jnp.arange(3, dtype="float32").reshape(1, 3), 2)
    Array([[0.5, 1.5]], dtype=float32)
    """
    return _means(1, input, output_size)


@operator(accepts=Accepts.FLOATING)
def adaptive_avg_pool2d(input: ArrayLike, output_size: Size | Sequence[Size | None]) -> Array:
    r"""The means of as many windows as asked for: window $i$ of $m$ covers
    $[\lfloor i n / m \rfloor, \lceil (i + 1) n / m \rceil)$.

    Shapes: `[N, C, H, W]` or `[C, H, W]` gives `[N, C, *output_size]` or `[C, *output_size]`; one
    int stands for all sizes, None in a sequence keeps the size of the input.

    >>> functx.nn.functional.adaptive_avg_pool2d(jnp.ones((1, 3, 4), "float32"), (None, 1)).shape
    (1, 3, 1)
    """
    return _means(2, input, output_size)


@operator(accepts=Accepts.FLOATING)
def adaptive_avg_pool3d(input: ArrayLike, output_size: Size | Sequence[Size | None]) -> Array:
    """The means of as many windows as asked for; see `adaptive_avg_pool2d`.

    Shapes: `[N, C, D, H, W]` or `[C, D, H, W]` gives `[N, C, *output_size]` or
    `[C, *output_size]`.

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
