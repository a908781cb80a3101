"""Grids of points for sampling, moved by affine maps."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.core import max_dim

from functx._core import (
    Accepts,
    ArrayLike,
    as_number,
    Autocast,
    describe,
    known,
    known_sizes,
    operator,
    Promote,
    refuse,
    Shape,
    Size,
)
from functx._ops.quotients import quotient


__all__ = ["affine_grid", "affine_grid_generator"]


@operator(promote=Promote.DEFAULT, accepts=Accepts.FLOATING, autocast=Autocast.LOWER)
def affine_grid(theta: ArrayLike, size: Shape, align_corners: bool | None = None) -> Array:
    r"""The places to which affine maps take the elements of an image: $g = \theta\,(x, y, 1)^\top$.

    Shapes: `theta: [N, 2, 3]` and `size=(N, C, H, W)` give `[N, H, W, 2]`; `[N, 3, 4]` and
    `(N, C, D, H, W)` give `[N, D, H, W, 3]`. The result is a `grid` for `grid_sample`.

    - `theta`: $\theta$, the maps.
    - `size`: the shape of the images to sample, whose coordinates $x, y$ lie between -1 and 1.
    - `align_corners`: whether -1 and 1 are the centres of the corner elements, rather than their
      outer edges. A dimension of one element lies at 0. None means False.

    Dtypes: that of `theta`; float16 and bfloat16 are computed in float32 and rounded once.
    Errors: ValueError for sizes that are not positive and for `theta` of another shape,
    RuntimeError for another number of maps than `N`.

    >>> turned = jnp.asarray([[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]], "float32")
    >>> functx.nn.functional.affine_grid(turned, (1, 1, 1, 2), align_corners=True)
    Array([[[[ 0., -1.],
             [ 0.,  1.]]]], dtype=float32)
    """
    n = len(size) - 2
    if n not in (2, 3):
        refuse(f"`size` must be (N, C, H, W) or (N, C, D, H, W), got {size}", error=ValueError)
    if theta.ndim != 3 or theta.shape[1:] != (n, n + 1):
        refuse(
            f"`theta` must be [N, {n}, {n + 1}] for size={size}, got {describe(theta)}",
            error=ValueError,
        )
    least = min(known_sizes(size), default=1)
    single = (
        bool(align_corners) and min(known_sizes(size[2:]), default=2) == 1
    )  # PyTorch checks no more sizes there
    if least <= 0 and not single:
        refuse(f"`size` must be positive, got {size}", error=ValueError)
    return _affine_grid(theta, size, bool(align_corners))


@operator(
    name="affine_grid_generator",
    promote=Promote.DEFAULT,
    accepts=Accepts.FLOATING,
    autocast=Autocast.LOWER,
)
def affine_grid_generator(theta: ArrayLike, size: Shape, align_corners: bool) -> Array:
    r"""The places to which affine maps take the elements of an image, $g = \theta\,(x, y, 1)^\top$:
    `nn.functional.affine_grid`, also for images without elements.

    Shapes: `theta: [N, 2, 3]` and `size=(N, C, H, W)` give `[N, H, W, 2]`; `[N, 3, 4]` and
    `(N, C, D, H, W)` give `[N, D, H, W, 3]`. The result is a `grid` for `grid_sampler`.

    - `theta`: $\theta$, the maps.
    - `size`: the shape of the images to sample, whose coordinates $x, y$ lie between -1 and 1.
    - `align_corners`: whether -1 and 1 are the centres of the corner elements, rather than their
      outer edges. A dimension of one element lies at 0.

    Dtypes: that of `theta`; float16 and bfloat16 are computed in float32 and rounded once.
    Errors: RuntimeError for shapes that do not fit.

    >>> doubled = jnp.asarray([[[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]], "float32")
    >>> functx.affine_grid_generator(doubled, (1, 1, 1, 2), False)
    Array([[[[-1.,  0.],
             [ 1.,  0.]]]], dtype=float32)
    """
    n = len(size) - 2
    if n not in (2, 3):
        refuse(f"`size` must be (N, C, H, W) or (N, C, D, H, W), got {size}")
    if theta.ndim != 3 or theta.shape[1:] != (n, n + 1):
        refuse(f"`theta` must be [N, {n}, {n + 1}] for size={size}, got {describe(theta)}")
    return _affine_grid(theta, size, align_corners)


def _affine_grid(theta: jax.Array, size: tuple[Size, ...], align_corners: bool) -> Array:
    batch, _, *sizes = size
    if theta.shape[0] != batch:
        refuse(f"`theta` must hold {batch} maps for size={size}, got {describe(theta)}")
    if min(known_sizes(sizes), default=0) < 0:
        refuse(f"`size` must not be negative, got {size}")
    n = len(sizes)
    shape = (batch, *sizes, n)
    # Terms are broadcast, so that no grid but the result is stored.
    total = lax.broadcast_in_dim(theta[:, :, n], shape, (0, n + 1))
    for k in range(n):  # the last column but one belongs to the first size
        places = _places(sizes[n - 1 - k], align_corners, theta.dtype)
        column = lax.broadcast_in_dim(theta[:, :, k], shape, (0, n + 1))
        total = total + column * lax.broadcast_in_dim(places, shape, (n - k,))
    return total


def _places(n: Size, align_corners: bool, dtype: Any) -> np.ndarray | Array:
    """The coordinates of `n` elements between -1 and 1."""
    if not known(n):
        return _places_later(n, align_corners, dtype)
    if n == 1:
        return np.zeros(1, dtype)
    ends = np.linspace(-1, 1, n)
    return (ends if align_corners else ends * ((n - 1) / max(n, 1))).astype(dtype)


def _places_later(n: Size, align_corners: bool, dtype: Any) -> Array:
    """The same coordinates as those of `_places`, computed when the exported program runs:
    $(2 i - g) / w$ for element $i$, with $g$ gaps and $w$ the whole.
    """
    gaps = as_number(n - 1, dtype)
    whole = jnp.maximum(gaps, 1) if align_corners else as_number(max_dim(n, 1), dtype)
    return quotient(2 * jnp.arange(n, dtype=dtype) - gaps, whole)
