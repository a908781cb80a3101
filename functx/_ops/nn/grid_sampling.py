"""Images read at given points, as spatial transformers read them."""

from __future__ import annotations

import math
from typing import Literal

import jax
from jax import Array

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    Autocast,
    describe,
    operator,
    Promote,
    refuse,
)

from .sampling import read_between, Reading


__all__ = ["grid_sample", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"]

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@operator(
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    autocast=Autocast.WIDEST,
    autocast_cpu=Autocast.FLOAT32,
)
def grid_sample(
    input: ArrayLike,
    grid: ArrayLike,
    mode: Literal["bilinear", "nearest", "bicubic"] = "bilinear",
    padding_mode: Literal["zeros", "border", "reflection"] = "zeros",
    align_corners: bool | None = None,
) -> Array:
    r"""Images or volumes read at given points: $y_{nco} = \sum_t w_t(g_{no})\, x_{nc p_t(g_{no})}$,
    where the taps $t$ of a point have positions $p_t$ and weights $w_t$.

    Shapes: `input: [N, C, H, W]`, `grid: [N, H', W', 2]` give `[N, C, H', W']`; `[N, C, D, H, W]`,
    `[N, D', H', W', 3]` give `[N, C, D', H', W']`.

    - `grid`: the coordinates of each point, that of the last dimension first; -1 and 1 are the ends
      of the image.
    - `mode`: `"bilinear"` weighs the two neighbours in each dimension, `"nearest"` takes the nearer
      (of two equally near ones the even), `"bicubic"` weighs four; it takes images only.
    - `padding_mode`: beyond the image lie `"zeros"`, the `"border"` continued, or its
      `"reflection"`.
    - `align_corners`: whether the ends of the image are the centres of the corner elements, rather
      than their outer edges. None means False.

    Dtypes: both arrays have one floating dtype. float16 and bfloat16 are computed in float32 and
    rounded once; PyTorch computes coordinates in them, although they hold few coordinates.
    Gradients: the gradient in `grid` is 0 where a coordinate lies on the border of an image that is
    clipped there or reflected, and beyond the border where it is clipped. On an element it is that
    of the cell behind the element. For `"nearest"` it is 0.
    Values: a coordinate of NaN or infinity gives NaN for `"bicubic"`, and for `"bilinear"` beside
    zeros in images. Otherwise it reads nothing beside zeros. Beside the border NaN reads the first
    element of an image and the last of a volume; beside the reflection NaN and infinity do.
    Errors: RuntimeError for shapes that do not fit, ValueError for options, TypeError for unequal
    dtypes.
    Source: Jaderberg et al., *Spatial transformer networks*, 2015.

    >>> x = jnp.asarray([[[[1.0, 3.0], [5.0, 7.0]]]], "float32")
    >>> middle = jnp.zeros((1, 1, 1, 2), "float32")
    >>> functx.nn.functional.grid_sample(x, middle)
    Array([[[[4.]]]], dtype=float32)
    """
    return _sampled(input, grid, mode, padding_mode, bool(align_corners))


@operator(
    name="grid_sampler",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    autocast=Autocast.WIDEST,
    autocast_cpu=Autocast.FLOAT32,
)
def grid_sampler(
    input: ArrayLike,
    grid: ArrayLike,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Array:
    """Images or volumes read at given points: `nn.functional.grid_sample`, with numbers for modes.

    Shapes: `input: [N, C, H, W]`, `grid: [N, H', W', 2]` give `[N, C, H', W']`; `[N, C, D, H, W]`,
    `[N, D', H', W', 3]` give `[N, C, D', H', W']`.

    - `grid`: the coordinates of each point, that of the last dimension first; -1 and 1 are the ends
      of the image.
    - `interpolation_mode`: 0 bilinear, 1 nearest, 2 bicubic, for images only.
    - `padding_mode`: beyond the image lie 0 zeros, 1 the border continued, 2 its reflection.
    - `align_corners`: whether the ends of the image are the centres of the corner elements, rather
      than their outer edges.

    Errors: RuntimeError for shapes that do not fit, ValueError for other modes, TypeError for
    unequal dtypes.

    >>> x = jnp.asarray([[[[1.0, 3.0], [5.0, 7.0]]]], "float32")
    >>> functx.grid_sampler(x, jnp.ones((1, 1, 1, 2), "float32"), 1, 1, True)
    Array([[[[7.]]]], dtype=float32)
    """
    mode, padding = _named(interpolation_mode, padding_mode)
    return _sampled(input, grid, mode, padding, align_corners)


@operator(
    name="grid_sampler_2d",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    autocast_cpu=Autocast.FLOAT32,
)
def grid_sampler_2d(
    input: ArrayLike,
    grid: ArrayLike,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Array:
    """Images read at given points: `nn.functional.grid_sample`, with numbers for modes.

    Shapes: `input: [N, C, H, W]`, `grid: [N, H', W', 2]` give `[N, C, H', W']`.

    - `grid`: the coordinates of each point, the column first; -1 and 1 are the ends of the image.
    - `interpolation_mode`: 0 bilinear, 1 nearest, 2 bicubic.
    - `padding_mode`: beyond the image lie 0 zeros, 1 the border continued, 2 its reflection.
    - `align_corners`: whether the ends of the image are the centres of the corner elements, rather
      than their outer edges.

    Errors: RuntimeError for shapes that do not fit, ValueError for other modes, TypeError for
    unequal dtypes.

    >>> x = jnp.asarray([[[[1.0, 3.0], [5.0, 7.0]]]], "float32")
    >>> functx.grid_sampler_2d(x, jnp.ones((1, 1, 1, 2), "float32"), 0, 0, False)
    Array([[[[1.75]]]], dtype=float32)
    """
    mode, padding = _named(interpolation_mode, padding_mode)
    return _sampled(input, grid, mode, padding, align_corners, rank=4)


@operator(
    name="grid_sampler_3d",
    promote=Promote.SAME,
    accepts=Accepts.FLOATING,
    autocast_cpu=Autocast.FLOAT32,
)
def grid_sampler_3d(
    input: ArrayLike,
    grid: ArrayLike,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Array:
    """Volumes read at given points: `nn.functional.grid_sample`, with numbers for modes.

    Shapes: `input: [N, C, D, H, W]`, `grid: [N, D', H', W', 3]` give `[N, C, D', H', W']`.

    - `grid`: the coordinates of each point, that of the last dimension first; -1 and 1 are the ends
      of the volume.
    - `interpolation_mode`: 0 bilinear, 1 nearest.
    - `padding_mode`: beyond the volume lie 0 zeros, 1 the border continued, 2 its reflection.
    - `align_corners`: whether the ends of the volume are the centres of the corner elements, rather
      than their outer edges.

    Errors: RuntimeError for shapes that do not fit and for bicubic sampling, ValueError for other
    modes, TypeError for unequal dtypes.

    >>> x = jnp.ones((1, 1, 2, 2, 2), "float32")
    >>> functx.grid_sampler_3d(x, jnp.ones((1, 1, 1, 1, 3), "float32"), 0, 0, False)
    Array([[[[[0.125]]]]], dtype=float32)
    """
    mode, padding = _named(interpolation_mode, padding_mode)
    return _sampled(input, grid, mode, padding, align_corners, rank=5)


def _named(interpolation_mode: int, padding_mode: int) -> tuple[str, str]:
    if interpolation_mode not in range(3):
        refuse(
            "`interpolation_mode` must be 0 (bilinear), 1 (nearest) or 2 (bicubic), got "
            f"{interpolation_mode}",
            error=ValueError,
        )
    if padding_mode not in range(3):
        refuse(
            f"`padding_mode` must be 0 (zeros), 1 (border) or 2 (reflection), got {padding_mode}",
            error=ValueError,
        )
    return _MODES[interpolation_mode], _PADDINGS[padding_mode]


def _sampled(
    input: jax.Array,
    grid: jax.Array,
    mode: str,
    padding_mode: str,
    align_corners: bool,
    rank: int | None = None,
) -> Array:
    if mode not in _MODES:
        refuse(f"`mode` must be one of {', '.join(_MODES)}, got {mode!r}", error=ValueError)
    if padding_mode not in _PADDINGS:
        names = ", ".join(_PADDINGS)
        refuse(f"`padding_mode` must be one of {names}, got {padding_mode!r}", error=ValueError)
    _check_shapes(input, grid, mode, rank)
    reading = Reading(input.shape[2:], mode, padding_mode, align_corners)
    batch, *shape, d = grid.shape
    dtype = accumulator(input.dtype)
    points = grid.astype(dtype).reshape(batch, math.prod(shape), d)
    out = read_between(input.astype(dtype), points, reading)
    return out.reshape(*input.shape[:2], *shape).astype(input.dtype)


def _check_shapes(input: jax.Array, grid: jax.Array, mode: str, rank: int | None) -> None:
    ranks = (4, 5) if rank is None else (rank,)
    if input.ndim not in ranks:
        shapes = " or ".join({4: "[N, C, H, W]", 5: "[N, C, D, H, W]"}[r] for r in ranks)
        refuse(f"`input` must be {shapes}, got {describe(input)}")
    d = input.ndim - 2
    if grid.ndim != input.ndim or grid.shape[-1] != d or grid.shape[0] != input.shape[0]:
        refuse(
            f"`grid` must have {input.ndim} dimensions, the first of size {input.shape[0]}, the "
            f"last of size {d} for {describe(input)}, got {describe(grid)}"
        )
    if 0 in input.shape[2:]:
        refuse(f"`input` must not be empty except in batch and channels, got {describe(input)}")
    if mode == "bicubic" and d == 3:
        refuse(f"bicubic sampling takes images [N, C, H, W], got {describe(input)}")
