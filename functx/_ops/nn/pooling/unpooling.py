"""The inverse of maximum pooling: elements put back at the places from which they came."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.core import max_dim

from functx._core import (
    Accepts,
    ArrayLike,
    as_number,
    Autocast,
    decided,
    describe,
    Index,
    index_in_range,
    known,
    known_sizes,
    operator,
    Promote,
    refuse,
    Requirement,
    Size,
)
from functx._core.devices.manual_axes import varying_like
from functx._ops.indexing.addressing import as_index, write_along
from functx._ops.nn.windows import per_dimension, require_countable

from .greatest import as_images
from .placement import require_image


__all__ = ["max_unpool1d", "max_unpool2d", "max_unpool3d"]


def _inside(n: int) -> Any:
    def requires(
        *,
        input: Any,
        indices: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
        **_: Any,
    ) -> Iterator[Requirement]:
        sizes = _sizes_before(n, input, kernel_size, stride, padding, output_size)
        yield index_in_range(indices, math.prod(sizes), name="indices")

    return requires


@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    requires=_inside(1),
    autocast_cpu=Autocast.FLOAT32,
)
def max_unpool1d(
    input: ArrayLike,
    indices: Index,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: Sequence[Size] | None = None,
) -> Array:
    """The inverse of `max_pool1d(..., return_indices=True)`: the elements at their old positions,
    and zeros at all others.

    Shapes: `input: [N, C, L]` or `[C, L]`, and `indices` of the same shape, give `[N, C, L']` or
    `[C, L']` with `L' = (L - 1) stride - 2 padding + kernel_size`.

    - `indices`: the position of each element in its row of the result, int64 or int32. If several
      elements have the same position, one of them stays, and it alone gets the gradient; PyTorch
      gives the gradient to all.
    - `kernel_size`, `stride`, `padding`: what the pooling had; `stride` is `kernel_size` if it is
      None.
    - `output_size`: `(L',)` or `(N, C, L')`, where the pooling left a remainder; less than a stride
      away from the formula above.

    Errors: IndexError for a position outside of the result, in eager calls on the CPU; under `jit`
    such an element is dropped. RuntimeError for shapes that do not fit, ValueError for options out
    of range.

    >>> x = jnp.asarray([[1.0, 2.0]], "float32")
    >>> functx.nn.functional.max_unpool1d(x, jnp.asarray([[0, 3]]), 2)
    Array([[1., 0., 0., 2.]], dtype=float32)
    """
    return _put_back(1, input, indices, kernel_size, stride, padding, output_size)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    requires=_inside(2),
    autocast_cpu=Autocast.FLOAT32,
)
def max_unpool2d(
    input: ArrayLike,
    indices: Index,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: Sequence[Size] | None = None,
) -> Array:
    """The inverse of `max_pool2d(..., return_indices=True)`: the elements at their old positions,
    and zeros at all others.

    Shapes: `input: [N, C, H, W]` or `[C, H, W]`, and `indices` of the same shape, give
    `[N, C, H', W']` or `[C, H', W']` with `H' = (H - 1) stride - 2 padding + kernel_size`, and `W'`
    alike.

    - `indices`: the position `row * W' + column` of each element in its image of the result, int64
      or int32. If several elements have the same position, one of them stays, and it alone gets the
      gradient; PyTorch gives the gradient to all.
    - `kernel_size`, `stride`, `padding`: what the pooling had; `stride` is `kernel_size` if it is
      None.
    - `output_size`: `(H', W')` or `(N, C, H', W')`, where the pooling left a remainder; less than a
      stride away from the formula above.

    Errors: IndexError for a position outside of the result, in eager calls on the CPU; under `jit`
    such an element is dropped. RuntimeError for shapes that do not fit, ValueError for options out
    of range.

    >>> x, where = jnp.asarray([[[5.0]]], "float32"), jnp.asarray([[[2]]])
    >>> functx.nn.functional.max_unpool2d(x, where, 2)
    Array([[[0., 0.],
            [5., 0.]]], dtype=float32)
    """
    return _put_back(2, input, indices, kernel_size, stride, padding, output_size)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.FLOATING,
    requires=_inside(3),
    autocast_cpu=Autocast.FLOAT32,
)
def max_unpool3d(
    input: ArrayLike,
    indices: Index,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: Sequence[Size] | None = None,
) -> Array:
    """The inverse of `max_pool3d(..., return_indices=True)`: the elements at their old positions,
    and zeros at all others.

    Shapes: `input: [N, C, D, H, W]` or `[C, D, H, W]`, and `indices` of the same shape, give
    `[N, C, D', H', W']` or `[C, D', H', W']` with `D' = (D - 1) stride - 2 padding + kernel_size`,
    and `H'` and `W'` alike.

    - `indices`: the position `(plane * H' + row) * W' + column` of each element in its volume of
      the result, int64 or int32. If several elements have the same position, one of them stays, and
      it alone gets the gradient; PyTorch gives the gradient to all.
    - `kernel_size`, `stride`, `padding`: what the pooling had; `stride` is `kernel_size` if it is
      None.
    - `output_size`: `(D', H', W')` or `(N, C, D', H', W')`, where the pooling left a remainder;
      less than a stride away from the formula above.

    Errors: IndexError for a position outside of the result, in eager calls on the CPU; under `jit`
    such an element is dropped. RuntimeError for shapes that do not fit, ValueError for options out
    of range.

    >>> x, where = jnp.asarray([[[[5.0]]]], "float32"), jnp.asarray([[[[1]]]])
    >>> functx.nn.functional.max_unpool3d(x, where, (1, 1, 2))
    Array([[[[0., 5.]]]], dtype=float32)
    """
    return _put_back(3, input, indices, kernel_size, stride, padding, output_size)


def _put_back(
    n: int,
    input: Array,
    indices: Any,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None,
    padding: int | Sequence[int],
    output_size: Sequence[Size] | None,
) -> Array:
    require_image(input, n)
    indices = as_index(indices, "indices")
    if indices.shape != input.shape:
        refuse(
            f"`indices` must have the shape of `input`, got {describe(indices)} for "
            f"{describe(input)}"
        )
    sizes = _sizes_before(n, input, kernel_size, stride, padding, output_size)
    images, where = as_images(input, n), as_images(indices, n)
    if not known(*images.shape, *sizes):
        return _placed(images, where, sizes).reshape(*input.shape[:-n], *sizes)
    if 0 in sizes:  # no position is inside, and JAX does not read from an empty array
        return varying_like(jnp.zeros((*input.shape[:-n], *sizes), input.dtype), input)
    zeros = jnp.zeros((images.shape[0], math.prod(sizes)), input.dtype)
    each = (images.shape[0], math.prod(images.shape[1:]))
    out = write_along(zeros, where.reshape(each), images.reshape(each), 1)
    return out.reshape(*input.shape[:-n], *sizes)


def _placed(images: Array, where: Array, sizes: tuple[Size, ...]) -> Array:
    """The elements of images at their positions among zeros `[B, *sizes]`, without a flat image.

    JAX does not read from a dimension of size 0, so that a size that may be 0 counts as 1 until the
    end.
    """
    held = [max_dim(n, 1) for n in sizes]
    row, places = where, []
    for n in (as_number(n, where.dtype) for n in held[:0:-1]):
        row, place = row // n, row % n
        places.insert(0, place)
    row = jnp.where(row < 0, as_number(held[0], row.dtype), row)
    batch = jnp.arange(images.shape[0]).reshape(-1, *[1] * len(sizes))
    zeros = jnp.zeros((images.shape[0], *held), images.dtype)
    out = zeros.at[batch, row, *places].set(images, mode="drop")
    return out[:, *map(slice, sizes)]


def _sizes_before(
    n: int, input: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[Size, ...]:
    """The sizes of the images that were pooled."""
    kernel = per_dimension(kernel_size, n, "kernel_size", least=1)
    strides = kernel if stride is None else per_dimension(stride, n, "stride", least=1)
    pads = per_dimension(padding, n, "padding")
    usual = tuple(
        (size - 1) * s - 2 * p + k
        for size, s, p, k in zip(input.shape[-n:], strides, pads, kernel, strict=True)
    )
    if output_size is None:
        asked = usual
    else:
        asked = tuple(output_size)
        if len(asked) not in (n, n + 2):
            refuse(
                f"`output_size` must be {n} ints, or {n + 2} with the sizes before them, got "
                f"{output_size}",
                error=ValueError,
            )
        asked = per_dimension(asked[-n:], n, "output_size")
    for size, about, s in zip(asked, usual, strides, strict=True):
        near = lambda size=size, about=about, s=s: about - s < size < about + s
        if not decided(near, otherwise=True):
            refuse(
                f"`output_size` must be less than a stride away from {list(usual)}, got "
                f"{list(asked)}",
                error=ValueError,
            )
    require_countable(asked)
    if min(known_sizes(asked), default=0) < 0:
        refuse(f"`padding` must leave a size that is not negative, got {padding}", error=ValueError)
    return asked
