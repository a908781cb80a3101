"""Elements at regular distances: overlapping windows, and strides over all elements."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    ArrayLike,
    ArrayOnly,
    as_dtype,
    as_scalar,
    canonical_dim,
    converted,
    decided,
    describe,
    known,
    known_sizes,
    LONG,
    operator,
    Promote,
    refuse,
    Shape,
    Size,
)

from .models import check_source


__all__ = ["as_strided", "as_strided_scatter", "unfold"]


@operator(promote=Promote.NO_OPMATH, aliases=("unfold_copy",))
def unfold(input: ArrayLike, dimension: int, size: int, step: int) -> Array:
    r"""The windows of `size` elements along a dimension, one every `step` elements.

    - `input`: an array of any dtype, which the result keeps. A 0-d array counts as `[1]`.
    - `dimension`: the dimension of the windows.
    - `size`: how many elements a window has.
    - `step`: the distance of two windows, at least 1.

    Shapes: `[..., n, ...] -> [..., m, ..., size]`, with
    $m = \lfloor (n - \mathrm{size}) / \mathrm{step} \rfloor + 1$; a 0-d array gives `[size]`.
    Gradients: the sum over all windows that hold an element.
    Errors: RuntimeError unless `size` lies in $[0, n]$ and `step` is positive, IndexError if
    `input` does not have the dimension.

    This is `torch.Tensor.unfold`; `nn.functional.unfold` takes windows of images.

    >>> functx.unfold(jnp.asarray([1.0, 2.0, 3.0, 4.0], "float32"), 0, 2, 1)
    Array([[1., 2.],
           [2., 3.],
           [3., 4.]], dtype=float32)
    """
    dim = canonical_dim(dimension, input.ndim, "dimension")
    line = input if input.ndim else lax.reshape(input, (1,))
    n = line.shape[dim]
    if size < 0 or decided(lambda: size > n, otherwise=False):
        refuse(f"`size` must lie in [0, {n}], got {size}")
    if step <= 0:
        refuse(f"`step` must be positive, got {step}")
    starts = np.arange(0, n - size + 1, min(step, n + 1)) if known(n) else _every(step, n - size)
    if not size:
        shape = line.shape
        windows = jnp.zeros((*shape[:dim], starts.shape[0], *shape[dim + 1 :], 0), line.dtype)
        return windows if input.ndim else windows[0]
    windows = jnp.take(line, starts[:, None] + np.arange(size), dim, mode="clip")
    windows = jnp.moveaxis(windows, dim + 1, -1)
    return windows if input.ndim else windows[0]


def _every(step: int, last: Size) -> Array:
    """The positions 0, `step`, ... up to `last`, whose size may be a symbol."""
    return jnp.arange(last // step + 1) * step


@operator(promote=Promote.NO_OPMATH, aliases=("as_strided_copy",))
def as_strided(
    input: ArrayLike, size: Shape, stride: Shape, storage_offset: int | None = None
) -> Array:
    r"""Elements at regular distances: $y_i = x[\mathrm{offset} + \sum_d i_d\, \mathrm{stride}_d]$.

    - `input`: an array of any dtype, which the result keeps.
    - `size`: the shape of the result.
    - `stride`: the distance of two neighbours along each dimension of the result.
    - `storage_offset`: the position of the first element; None is 0.

    Positions and distances count elements of `input` in row-major order, however it was made:
    arrays have no other storage.

    Gradients: the sum over all places where an element stands.
    Errors: RuntimeError where positions leave `input`, for negative arguments, and unless `size`
    and `stride` are equally long.

    >>> functx.as_strided(jnp.asarray([1.0, 2.0, 3.0], "float32"), (2, 2), (1, 1))
    Array([[1., 2.],
           [2., 3.]], dtype=float32)
    """
    positions = _positions(input, size, stride, storage_offset or 0)
    if positions.size == 0:
        return jnp.zeros(size, input.dtype)
    return jnp.take(input.ravel(), positions, mode="clip")


@operator(promote=Promote.NONE, takes_storage_dtypes=True)
def as_strided_scatter(
    input: ArrayOnly,
    src: ArrayOnly,
    size: Shape,
    stride: Shape,
    storage_offset: int | None = None,
) -> Array:
    """A copy of `input` with `src` at regular distances, where `as_strided` would read.

    - `input`: an array of any dtype, which the result keeps.
    - `src`: the new elements, cast to the dtype of `input`.
    - `size`: the shape of `src`.
    - `stride`: the distance of two neighbours along each dimension of `src`.
    - `storage_offset`: the position of the first element; None is 0.

    Positions and distances count elements of `input` in row-major order. If several elements of
    `src` have one place, the last one stays, and it alone gets the gradient, which PyTorch gives to
    all.

    Errors: RuntimeError where positions leave `input`, for negative arguments, if `src` does not
    have the shape `size`, and unless `size` and `stride` are equally long.

    >>> functx.as_strided_scatter(jnp.zeros(4, "float32"), jnp.ones(2, "float32"), (2,), (2,))
    Array([1., 0., 1., 0.], dtype=float32)
    """
    positions = _positions(input, size, stride, storage_offset or 0)
    check_source(src, size)
    if positions.size == 0:
        return input
    order = lax.iota(positions.dtype, positions.size)
    nobody = jnp.full(input.size, -1, positions.dtype)
    last = nobody.at[positions.ravel()].max(order, mode="promise_in_bounds")
    written = jnp.take(converted(src, input.dtype).ravel(), last, mode="clip")
    return lax.reshape(jnp.where(last >= 0, written, input.ravel()), input.shape)


def _positions(input: Array, size: Shape, stride: Shape, offset: int) -> Array:
    """The positions in row-major order of the elements of a strided array."""
    if len(size) != len(stride):
        refuse(f"`stride` must have {len(size)} entries, got {list(stride)}")
    for name, each in (("size", size), ("stride", stride), ("storage_offset", (offset,))):
        if min(known_sizes(each), default=0) < 0:
            refuse(f"`{name}` must not be negative, got {list(each)}")
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if 0 not in size and decided(lambda: last >= input.size, otherwise=False):
        refuse(f"positions must lie in {describe(input)}, and reach {last}")
    long = decided(lambda: input.size > 2**31, otherwise=True)
    dtype = as_dtype(LONG if long else "int32")
    if 0 in size:
        return jnp.zeros(size, dtype)
    out = jnp.full(size, offset, dtype)
    for axis, step in enumerate(stride):
        if decided(lambda axis=axis: size[axis] > 1, otherwise=True):
            out += lax.broadcasted_iota(dtype, size, axis) * as_scalar(step, dtype)
    return out
