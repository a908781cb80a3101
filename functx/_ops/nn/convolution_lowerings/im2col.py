"""Correlations as products of matrices, where XLA's kernels are slow or do not exist.

The windows of an image are the columns of a matrix, whose rows are the elements of a kernel. The
kernel is a matrix as it lies.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import known, Size
from functx._core.devices.manual_axes import varying_like
from functx._ops.nn.windows import a_stride_apart, put_apart

from .geometry import Geometry, padded, Part, total


def by_windows(wanted: Part, g: Geometry, a: Array, b: Array) -> Array:
    """The part that is wanted, from the two others, as one product for all lanes and groups."""
    a, b = (x.astype(g.dtype) for x in (a, b))
    if wanted == Part.RESULT:
        out = _product("lgfck,lgckno->lgfno", _flat_kernel(g, b), _windows(g, a), g)
        lanes, _, filters, batch, *_ = out.shape
        out = _batch_first(out.reshape(lanes, g.groups * filters, batch, *g.result))
        return out.astype(g.dtype_of(wanted))
    if wanted == Part.KERNEL:
        out = _product("lgfno,lgckno->lgfck", _flat_result(g, b), _windows(g, a), g)
        lanes, _, filters, channels, _ = out.shape
        return out.reshape(lanes, g.groups * filters, channels, *g.kernel).astype(
            g.dtype_of(wanted)
        )
    # XLA multiplies few rows with many columns faster than many rows with few columns.
    out = _product("lgfno,lgfck->lgnock", _flat_result(g, b), _flat_kernel(g, a), g)
    lanes, _, batch, *_, channels, _ = out.shape
    out = _overlapping(g, out.reshape(lanes, g.groups, batch, *g.result, channels, *g.kernel))
    out = jnp.moveaxis(out, (1, -1), (2, 3))
    return out.reshape(lanes, batch, g.groups * channels, *g.image).astype(g.dtype_of(wanted))


def by_blocks(g: Geometry, image: Array, result: Array, most: int) -> Array:
    """The kernel of one group, as a sum of products, each for a few rows of one image.

    `image` is `[1, n, c, *]` and `result` `[1, n, f, *]`. The matrix of the windows that some rows
    of a result see has at most `most` elements, or is that of a single row.
    """
    image, result = image.astype(g.dtype), result.astype(g.dtype)
    rows, *others = g.result
    channels, filters = image.shape[2], result.shape[2]
    windows = channels * math.prod(g.kernel)
    fitting = min(max(most // (windows * math.prod(others)), 1), rows)
    height = next((r for r in range(fitting, fitting // 2, -1) if rows % r == 0), fitting)
    whole = rows // height * height
    blocks = [(height, range(0, whole, height)), (rows - whole, [whole])]
    x = padded(g, image)
    kernel = varying_like(jnp.zeros((filters, windows), g.dtype_of(Part.KERNEL)), image)
    for height, starts in blocks:
        if height:
            kernel = _add_blocks(g, kernel, x, result, height, np.asarray(starts, np.int32))
    return jnp.moveaxis(kernel.reshape(1, filters, *g.kernel, channels), -1, 2)


def _add_blocks(
    g: Geometry, kernel: Array, x: Array, result: Array, height: int, starts: np.ndarray
) -> Array:
    """The kernel `[f, elements of a kernel and c]` and what it has of blocks of rows; the images in
    `x` are padded.
    """
    (stride, _, dilation, _, size), *_ = g.dimensions()
    reach = (height - 1) * stride + dilation * (size - 1) + 1

    def rows_of(x: Array, image: Array, first: Array, rows: int) -> Array:
        x = lax.dynamic_slice_in_dim(lax.dynamic_slice_in_dim(x, image, 1, 1), first, rows, 3)
        return x.reshape(x.shape[2:])

    def step(kernel: Array, at: tuple[Array, Array]) -> tuple[Array, None]:
        image, row = at
        columns = _block_of_windows(g, rows_of(x, image, row * stride, reach), height)
        rows = rows_of(result, image, row, height).reshape(kernel.shape[0], -1)
        part = lax.dot_general(
            rows, columns, (((1,), (1,)), ((), ())), preferred_element_type=g.sums
        )
        return kernel + part.astype(kernel.dtype), None

    batch = np.arange(result.shape[1], dtype=np.int32)
    each = np.repeat(batch, len(starts)), np.tile(starts, len(batch))
    return lax.scan(step, kernel, (jnp.asarray(each[0]), jnp.asarray(each[1])))[0]


def _block_of_windows(g: Geometry, rows: Array, height: int) -> Array:
    """`[elements of a kernel and c, places]`, of some rows of one image `[c, *]`.

    One dimension after the other, the last first, so that the shifts along all others are copies of
    longer runs.
    """
    sizes = height, *g.result[1:]
    for i, (stride, _, dilation, _, size) in reversed(list(enumerate(g.dimensions()))):
        places = ((j * dilation, sizes[i], stride) for j in range(size))
        seen = [a_stride_apart(rows, {1 + i: place}) for place in places]
        # XLA copies faster into a matrix than into an array of more dimensions.
        flat = [x.reshape(x.shape[0], -1) for x in seen] if i == 0 else seen
        rows = jnp.concatenate(flat)
    return rows


def _product(indices: str, a: Array, b: Array, g: Geometry) -> Array:
    """The product of some indices, where `o` stands for the elements of results."""
    indices = indices.replace("o", "opq"[: len(_places(g))])
    return jnp.einsum(indices, a, b, preferred_element_type=g.sums)


def _places(g: Geometry) -> tuple[Size, ...]:
    """The sizes of a result, joined to one dimension unless a size is symbolic: JAX cannot say of a
    product of symbolic sizes, less some number, that it is not negative.
    """
    return (math.prod(g.result),) if known(*g.result) else g.result


def _batch_first(x: Array) -> Array:
    """`[l, channels or filters, n, *]` with its second and third dimension exchanged, or back."""
    return jnp.swapaxes(x, 1, 2)


def _windows(g: Geometry, image: Array) -> Array:
    """`[l, groups, c / groups, elements of a kernel, n, elements of a result]`."""
    lanes, batch, channels, *_ = image.shape
    x = padded(g, _batch_first(image))
    for i, (s, _, d, _, k) in enumerate(g.dimensions()):
        seen = [a_stride_apart(x, {3 + 2 * i: (j * d, g.result[i], s)}) for j in range(k)]
        x = jnp.stack(seen, 2 + i)
    whole = lanes, g.groups, channels // g.groups
    return x.reshape(*whole, math.prod(g.kernel), batch, *_places(g))


def _overlapping(g: Geometry, x: Array) -> Array:
    """`[l, groups, n, *image, c]`, the sum of windows `[l, groups, n, *result, c, *kernel]`."""
    for i, (s, (before, _), d, size, k) in enumerate(g.dimensions()):
        axis = 4 + len(g.kernel)  # of the kernel's first dimension that is left
        rows = (lax.index_in_dim(x, j, axis, keepdims=False) for j in range(k))
        x = total(put_apart(r, {3 + i: (j * d - before, size, s)}) for j, r in enumerate(rows))
    return x


def _flat_kernel(g: Geometry, kernel: Array) -> Array:
    lanes, filters, channels, *_ = kernel.shape
    return kernel.reshape(lanes, g.groups, filters // g.groups, channels, math.prod(g.kernel))


def _flat_result(g: Geometry, result: Array) -> Array:
    lanes, batch, filters, *_ = result.shape
    whole = lanes, g.groups, filters // g.groups, batch, *_places(g)
    return _batch_first(result).reshape(whole)
