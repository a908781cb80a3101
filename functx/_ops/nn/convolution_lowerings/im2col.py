"""Correlations as products of matrices, where XLA's kernels are slow or do not exist.

The windows of an image are the columns of a matrix, whose rows are the elements of a kernel.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import known, Size
from functx._ops.nn.overlaps import overlap_add
from functx._ops.nn.windows import windows

from .geometry import Geometry, padded, Part, seen_by


WINDOW = 64  # elements of a kernel; windows of more take too much memory


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
    out = _product("lgfck,lgfno->lgckno", _flat_kernel(g, a), _flat_result(g, b), g)
    lanes, _, channels, _, batch, *_ = out.shape
    out = out.reshape(lanes, g.groups * channels, *g.kernel, batch, *g.result)
    n = len(g.kernel)
    for s, (before, after), d, size, _ in g.dimensions():
        whole = before + size + max(after, 0)
        out = overlap_add(out, 2, n + 3, size=whole, stride=s, dilation=d)
        out = lax.slice_in_dim(out, before, before + size, axis=n + 2)
    return _batch_first(out).astype(g.dtype_of(wanted))


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
    if math.prod(g.kernel) <= WINDOW:
        x = jnp.stack([seen_by(g, x, at) for at in np.ndindex(*g.kernel)], 2)
    else:
        for i, (s, _, d, _, k) in enumerate(g.dimensions()):
            x = jnp.moveaxis(windows(x, 3 + 2 * i, k, s, d), 4 + 2 * i, 2 + i)
    whole = lanes, g.groups, channels // g.groups
    return x.reshape(*whole, math.prod(g.kernel), batch, *_places(g))


def _flat_kernel(g: Geometry, kernel: Array) -> Array:
    lanes, filters, channels, *_ = kernel.shape
    return kernel.reshape(lanes, g.groups, filters // g.groups, channels, math.prod(g.kernel))


def _flat_result(g: Geometry, result: Array) -> Array:
    lanes, batch, filters, *_ = result.shape
    whole = lanes, g.groups, filters // g.groups, batch, *_places(g)
    return _batch_first(result).reshape(whole)
