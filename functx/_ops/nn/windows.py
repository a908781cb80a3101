"""Sliding windows over the trailing dimensions, for convolution and for pooling."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import max_dim

from functx._core import describe, known, known_sizes, refuse, Size


def per_dimension(value: Any, n: int, name: str, *, least: int = 0) -> tuple[Size, ...]:
    """One int or size for each of `n` dimensions, from a single one or from a sequence of one or
    `n`.
    """
    several = value if isinstance(value, (tuple, list)) else (value,)
    if len(several) not in (1, n):
        refuse(f"`{name}` must be an int or {n} of them, got {value}", error=ValueError)
    try:
        ints = [operator.index(v) if known(v) else v for v in several]
    except TypeError:
        ints = []
    if not ints or any(isinstance(v, bool) for v in several):
        refuse(f"`{name}` must be an int or {n} of them, got {describe(value)}", error=TypeError)
    if min(known_sizes(ints), default=least) < least:
        refuse(f"`{name}` must be at least {least}, got {value}", error=ValueError)
    return tuple(ints) * (n if len(ints) == 1 else 1)


def require_known_window(weight: jax.Array, n: int) -> None:
    """Refuses a kernel of symbolic sizes in its `n` trailing dimensions."""
    if not known(*weight.shape[-n:]):
        refuse(
            f"`weight` must have a window of sizes that are numbers, got {describe(weight)}",
            hint="which programs convolve, the number of the window's elements decides",
            error=TypeError,
        )


def require_countable(sizes: Sequence[Size]) -> None:
    """Refuses images with so many elements that 64 bits cannot count their bytes."""
    if math.prod(known_sizes(sizes)) >= 2**60:
        refuse(f"images of {list(sizes)} are more than memory holds", error=MemoryError)


def at_least_none(count: Size) -> Size:
    """A count that is not negative, in a form from which JAX sees that for symbolic sizes too."""
    return count if known(count) else max_dim(count, 0)


def a_stride_apart(x: jax.Array, places: Mapping[int, tuple[int, Size, int]]) -> jax.Array:
    """The elements `first`, `first + stride` and so on of some axes: `places` has
    `(first, count, stride)` for each.
    """
    if known(*x.shape, *(count for _, count, _ in places.values())):
        starts, limits, steps = [0] * x.ndim, [*x.shape], [1] * x.ndim
        for axis, (first, count, stride) in places.items():
            starts[axis], steps[axis] = first, stride
            limits[axis] = first + (count - 1) * stride + 1
        return lax.slice(x, starts, limits, steps)
    # A slice of symbolic sizes must be known to lie inside; padding may be negative.
    edges, limits, steps = [(0, 0, 0)] * x.ndim, [*x.shape], [1] * x.ndim
    for axis, (first, count, stride) in places.items():
        limits[axis], steps[axis] = count * stride, stride
        edges[axis] = (-first, first + limits[axis] - x.shape[axis], 0)
    x = lax.pad(x, np.zeros((), x.dtype), edges)
    return lax.slice(x, [0] * x.ndim, limits, steps)


def put_apart(x: jax.Array, places: Mapping[int, tuple[Size, Size, int]]) -> jax.Array:
    """The transpose of `a_stride_apart`: the elements of `x` among zeros, in dimensions of size
    `size`; `places` has `(first, size, stride)` for each axis.
    """
    zero, edges = np.zeros((), x.dtype), [(0, 0, 0)] * x.ndim
    few = known(*x.shape, *(n for first, size, _ in places.values() for n in (first, size)))
    for axis, (first, size, stride) in places.items():
        gaps = stride - 1
        if not few:
            x, gaps = with_gaps(x, axis, stride), 0
        reach = first + (x.shape[axis] - 1) * (gaps + 1) + 1
        edges[axis] = (first, size - reach, gaps)
    return lax.pad(x, zero, edges)


def with_gaps(x: jax.Array, axis: int, stride: int) -> jax.Array:
    """`x` with `stride - 1` zeros after each element of `axis`, also after the last, so that no
    element gives no zero.
    """
    if stride == 1:
        return x
    x = jnp.expand_dims(x, axis + 1)
    edges = [(0, stride - 1, 0) if d == axis + 1 else (0, 0, 0) for d in range(x.ndim)]
    x = lax.pad(x, np.zeros((), x.dtype), edges)
    return x.reshape(*x.shape[:axis], x.shape[axis] * stride, *x.shape[axis + 2 :])


def windows(x: jax.Array, axis: int, kernel: int, stride: int, dilation: int) -> jax.Array:
    """Dimension `axis` of `x` as two dimensions: the number of a window, and the place inside the
    window.
    """
    count = at_least_none((x.shape[axis] - dilation * (kernel - 1) - 1) // stride + 1)
    make: Any = np if known(count) else jnp
    positions = make.arange(count)[:, None] * stride + make.arange(kernel) * dilation
    return jnp.take(x, positions, axis, mode="clip")
