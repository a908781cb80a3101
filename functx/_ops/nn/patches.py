"""Images as the columns of their patches, and images from such columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.core import max_dim

from functx._core import (
    Accepts,
    ArrayLike,
    category,
    describe,
    known,
    known_sizes,
    operator,
    Promote,
    refuse,
    Size,
)

from .overlaps import overlap_add
from .windows import at_least_none, per_dimension, require_countable


__all__ = ["fold", "unfold"]


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.ANY)
def unfold(
    input: ArrayLike,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Array:
    """The patches of images, each as a column: the inverse direction of `fold`.

    Shapes: `input: [N, C, H, W]` or `[C, H, W]` gives `[N, C * kH * kW, L]` or `[C * kH * kW, L]`.
    Each of the `L` columns is a place of the kernel; the places go row by row,
    `(H + 2 padding - dilation (kH - 1) - 1) // stride + 1` of them along the height, and along the
    width alike.

    - `kernel_size`: the sizes `kH, kW` of a patch.
    - `dilation`: how far apart neighbouring elements of a patch are in the image.
    - `padding`: how many zeros are added on either side of the image.
    - `stride`: how far apart neighbouring patches are in the image.

    Each option is one int for both dimensions, or a sequence of two.
    Errors: RuntimeError for shapes that do not fit, ValueError for options out of range.

    >>> x = jnp.arange(6, dtype="float32").reshape(1, 2, 3)
    >>> functx.nn.functional.unfold(x, 2)
    Array([[0., 1.],
           [1., 2.],
           [3., 4.],
           [4., 5.]], dtype=float32)
    """
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        refuse(
            "`input` must have 3 dimensions, or 4 with a batch, and elements in each image, got "
            f"{describe(input)}"
        )
    kernel, dilations, pads, strides = _placing(kernel_size, dilation, padding, stride)
    require_countable([n + 2 * p for n, p in zip(input.shape[-2:], pads, strict=True)])
    x = input if input.ndim == 4 else input[None]
    counts = _counts(x.shape[2:], kernel, dilations, pads, strides)
    x = lax.pad(x, np.zeros((), x.dtype), [(0, 0, 0)] * 2 + [(p, p, 0) for p in pads])
    if not known(*counts):
        number = max_dim(math.prod(counts), 0)
        x = _read(x, *_places(kernel, strides, dilations, counts[1], number))
        return x if input.ndim == 4 else x[0]
    for i, axis in enumerate((2, 4)):
        k, s, d, n = kernel[i], strides[i], dilations[i], counts[i]
        rows = [lax.slice_in_dim(x, j * d, j * d + (n - 1) * s + 1, s, axis=axis) for j in range(k)]
        x = jnp.stack(rows, axis)
    x = x.transpose(0, 1, 2, 4, 3, 5)  # [N, C, kH, kW, rows, columns]
    x = x.reshape(x.shape[0], math.prod(x.shape[1:4]), math.prod(counts))
    return x if input.ndim == 4 else x[0]


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.ANY, takes_storage_dtypes=False)
def fold(
    input: ArrayLike,
    output_size: Size | Sequence[Size],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Array:
    """Images in which each element is the sum of all elements of patches that lie there: the
    transpose of `unfold`.

    Shapes: `input: [N, C * kH * kW, L]` or `[C * kH * kW, L]` gives `[N, C, *output_size]` or
    `[C, *output_size]`; `L` is the number of patches that `unfold` finds in such an image with the
    same options.

    - `output_size`: the height and the width of the images.
    - `kernel_size`: the sizes `kH, kW` of a patch.
    - `dilation`: how far apart neighbouring elements of a patch are in the image.
    - `padding`: how many elements are cut off on either side of the image.
    - `stride`: how far apart neighbouring patches are in the image.

    Each option is one int for both dimensions, or a sequence of two.
    Dtypes: that of `input`; bools are joined by "or" instead of being added.
    Errors: RuntimeError for shapes that do not fit, ValueError for options out of range.

    >>> columns = jnp.ones((4, 2), "float32")
    >>> functx.nn.functional.fold(columns, (2, 3), 2)
    Array([[[1., 2., 1.],
            [1., 2., 1.]]], dtype=float32)
    """
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        refuse(
            "`input` must have 2 dimensions, or 3 with a batch, and elements in each image, got "
            f"{describe(input)}"
        )
    sizes = per_dimension(output_size, 2, "output_size", least=1)
    kernel, dilations, pads, strides = _placing(kernel_size, dilation, padding, stride)
    counts = _counts(sizes, kernel, dilations, pads, strides)
    x = input if input.ndim == 3 else input[None]
    columns = math.prod(counts)
    as_many = x.shape[2] == columns or not known(x.shape[2], columns)
    if x.shape[1] % math.prod(kernel) or not as_many:
        refuse(
            f"`input` must be [C * {math.prod(kernel)}, {columns}], or have a batch "
            f"before that, for output_size={output_size}, got {describe(input)}"
        )
    channels = x.shape[1] // math.prod(kernel)
    if not known(*counts):
        padded = [n + 2 * p for n, p in zip(sizes, pads, strict=True)]
        places = _places(kernel, strides, dilations, counts[1], x.shape[2])
        x = _written(x, channels, padded, *places)
        x = x[:, :, *(slice(p, p + n) for p, n in zip(pads, sizes, strict=True))]
        return x if input.ndim == 3 else x[0]
    x = x.reshape(x.shape[0], channels, *kernel, *counts)
    join = jnp.logical_or if category(x.dtype) == 0 else jnp.add
    for i in range(2):
        size, p = sizes[i] + 2 * pads[i], pads[i]
        x = overlap_add(x, 2, 4, size=size, stride=strides[i], dilation=dilations[i], join=join)
        x = lax.slice_in_dim(x, p, size - p, axis=3)
    return x if input.ndim == 3 else x[0]


def _places(
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    width: Size,
    number: Size,
) -> tuple[Array, Array]:
    """The rows `[kH, 1, L]` and the columns `[kW, L]` of the elements of `L = number` patches, with
    `width` patches in each row of patches.

    Patches of a symbolic number are read and written one by one: JAX does not join two dimensions
    whose product may be negative for all that it can tell.
    """
    at, width = jnp.arange(number), max_dim(width, 1)
    first = at // width * strides[0], at % width * strides[1]
    rows, columns = (
        jnp.arange(k)[:, None] * d + start
        for k, d, start in zip(kernel, dilations, first, strict=True)
    )
    return rows[:, None], columns


def _read(x: Array, rows: Array, columns: Array) -> Array:
    """The patches `[N, C * kH * kW, L]` of images `[N, C, H, W]`."""
    out = x[:, :, rows, columns]
    return out.reshape(x.shape[0], math.prod(out.shape[1:4]), out.shape[4])


def _written(x: Array, channels: Size, sizes: Sequence[Size], rows: Array, columns: Array) -> Array:
    """The transpose of `_read`: patches `[N, C * kH * kW, L]` are summed to `[N, C, *sizes]`."""
    split = x.reshape(x.shape[0], channels, rows.shape[0], columns.shape[0], x.shape[2])
    zeros = jnp.zeros((x.shape[0], channels, *sizes), x.dtype).at[:, :, rows, columns]
    return zeros.max(split) if category(x.dtype) == 0 else zeros.add(split, mode="drop")


def _placing(kernel_size, dilation, padding, stride):
    return (
        per_dimension(kernel_size, 2, "kernel_size", least=1),
        per_dimension(dilation, 2, "dilation", least=1),
        per_dimension(padding, 2, "padding"),
        per_dimension(stride, 2, "stride", least=1),
    )


def _counts(sizes, kernel, dilations, pads, strides) -> tuple[Size, ...]:
    """The number of places of the kernel along each dimension."""
    counts = tuple(
        at_least_none((n + 2 * p - d * (k - 1) - 1) // s + 1)
        for n, k, d, p, s in zip(sizes, kernel, dilations, pads, strides, strict=True)
    )
    if min(known_sizes(counts), default=1) < 1:
        refuse(
            f"the dilated kernel must fit into the padded images, got {list(kernel)} with "
            f"dilation {list(dilations)} and padding {list(pads)} for {list(sizes)}"
        )
    return counts
