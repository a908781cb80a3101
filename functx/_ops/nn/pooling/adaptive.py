"""Pooling into as many windows as asked for."""

from __future__ import annotations

from collections.abc import Sequence

from jax import Array

from functx._core import Accepts, ArrayLike, describe, operator, refuse
from functx._ops.nn.resampling import averaged
from functx._ops.nn.windows import per_dimension


__all__ = ["adaptive_avg_pool2d"]


@operator(accepts=Accepts.FLOATING)
def adaptive_avg_pool2d(input: ArrayLike, output_size: int | Sequence[int | None]) -> Array:
    r"""The means of as many windows as asked for: window $i$ of $m$ covers
    $[\lfloor i n / m \rfloor, \lceil (i + 1) n / m \rceil)$.

    Shapes: `[N, C, H, W]` or `[C, H, W]` gives `[N, C, *output_size]` or `[C, *output_size]`; one
    int stands for both sizes, None in a pair keeps the size of the input.

    >>> functx.nn.functional.adaptive_avg_pool2d(jnp.ones((1, 3, 4), "float32"), (None, 1)).shape
    (1, 3, 1)
    """
    if input.ndim not in (3, 4) or 0 in input.shape[-2:]:
        refuse(f"`input` must be [N, C, H, W] or [C, H, W], not empty, got {describe(input)}")
    several = isinstance(output_size, (tuple, list))
    sizes = tuple(output_size) if several else (output_size,) * 2
    if len(sizes) != 2:
        refuse(f"`output_size` must be an int or 2 of them, got {output_size}", error=ValueError)
    kept = [n if size is None else size for size, n in zip(sizes, input.shape[-2:], strict=True)]
    kept = per_dimension(tuple(kept), 2, "output_size")
    for axis, size in zip((-2, -1), kept, strict=True):
        input = averaged(input, axis, size)
    return input
