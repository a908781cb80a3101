"""Rearrangements of channels: into space and back, and among one another."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import ArrayLike, describe, operator, Promote, refuse


__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


@operator(promote=Promote.NO_OPMATH, aliases=("pixel_shuffle",))
def pixel_shuffle(input: ArrayLike, upscale_factor: int) -> Array:
    r"""Channels into space: $y_{c,\,hr+i,\,wr+j} = x_{cr^2 + ir + j,\,h,\,w}$ with $x$ the `input`
    and $r$ the `upscale_factor`.

    Shapes: `input: [..., C r^2, H, W]` gives `[..., C, H r, W r]`.

    - `upscale_factor`: by how much height and width grow.

    Errors: RuntimeError for a factor that is not positive or whose square does not divide the
    channels, and for fewer than 3 dimensions.
    Source: Shi et al., *Real-time single image and video super-resolution*, 2016.

    >>> x = jnp.asarray([1.0, 2.0, 3.0, 4.0], "float32").reshape(4, 1, 1)
    >>> functx.nn.functional.pixel_shuffle(x, 2)
    Array([[[1., 2.],
            [3., 4.]]], dtype=float32)
    """
    r = upscale_factor
    _check(input, "upscale_factor", r)
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        refuse(
            f"`input` must have channels that {r} * {r} divides, got {channels} in "
            f"{describe(input)}"
        )
    c, b = channels // (r * r), len(batch)
    split = input.reshape(*batch, c, r, r, height, width)
    moved = jnp.transpose(split, (*range(b + 1), b + 3, b + 1, b + 4, b + 2))
    return moved.reshape(*batch, c, height * r, width * r)


@operator(promote=Promote.NO_OPMATH, aliases=("pixel_unshuffle",))
def pixel_unshuffle(input: ArrayLike, downscale_factor: int) -> Array:
    r"""Space into channels, the inverse of `pixel_shuffle`:
    $y_{cr^2 + ir + j,\,h,\,w} = x_{c,\,hr+i,\,wr+j}$ with $x$ the `input` and $r$ the
    `downscale_factor`.

    Shapes: `input: [..., C, H r, W r]` gives `[..., C r^2, H, W]`.

    - `downscale_factor`: by how much height and width shrink.

    Errors: RuntimeError for a factor that is not positive or does not divide height and width, and
    for fewer than 3 dimensions.

    >>> x = jnp.asarray([[[1.0, 2.0], [3.0, 4.0]]], "float32")
    >>> functx.nn.functional.pixel_unshuffle(x, 2).ravel()
    Array([1., 2., 3., 4.], dtype=float32)
    """
    r = downscale_factor
    _check(input, "downscale_factor", r)
    *batch, channels, height, width = input.shape
    if height % r or width % r:
        refuse(f"`input` must have height and width that {r} divides, got {describe(input)}")
    b = len(batch)
    split = input.reshape(*batch, channels, height // r, r, width // r, r)
    moved = jnp.transpose(split, (*range(b + 1), b + 2, b + 4, b + 1, b + 3))
    return moved.reshape(*batch, channels * r * r, height // r, width // r)


@operator(promote=Promote.NO_OPMATH, aliases=("channel_shuffle",))
def channel_shuffle(input: ArrayLike, groups: int) -> Array:
    """The channels of all groups in turn: the first channel of each group, then the second of each.

    Shapes: `input: [N, C, *sizes]`, with one size or more; the result has the same.

    - `groups`: how many groups of consecutive channels there are.

    Errors: RuntimeError for `groups` that are not positive or do not divide the channels, and for
    fewer than 3 dimensions.
    Source: Zhang et al., *ShuffleNet*, 2018.

    >>> x = jnp.asarray([1, 2, 3, 4], "int32").reshape(1, 4, 1)
    >>> functx.nn.functional.channel_shuffle(x, 2).ravel()
    Array([1, 3, 2, 4], dtype=int32)
    """
    _check(input, "groups", groups)
    batch, channels, *sizes = input.shape
    if channels % groups:
        refuse(
            f"`input` must have channels that {groups} groups divide, got {channels} in "
            f"{describe(input)}"
        )
    split = input.reshape(batch, groups, channels // groups, *sizes)
    return jnp.swapaxes(split, 1, 2).reshape(input.shape)


def _check(input: Array, name: str, number: int) -> None:
    if input.ndim < 3:
        refuse(f"`input` must have at least 3 dimensions, got {describe(input)}")
    if number < 1:
        refuse(f"`{name}` must be positive, got {number}")
