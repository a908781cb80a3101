"""Positions in row-major order converted to positions in each dimension."""

from __future__ import annotations

import math

import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    as_dtype,
    decided,
    known_sizes,
    LONG,
    operator,
    Promote,
    refuse,
    Shape,
)


__all__ = ["unravel_index"]


@operator(promote=Promote.NONE, accepts=Accepts.INTEGER, differentiable=False)
def unravel_index(indices: ArrayLike, shape: Shape) -> tuple[Array, ...]:
    """The positions in each dimension of elements that are counted in row-major order.

    - `indices`: an array of integers, taken modulo the number of elements, so that a negative one
      counts from the end.
    - `shape`: the shape of the array whose elements are counted.

    Shapes: a tuple with one array for each dimension of `shape`, each in the shape of `indices`.
    Dtypes: int64.
    Errors: TypeError unless `indices` are integers, ValueError for negative sizes, RuntimeError for
    more elements than int64 counts and for an array without elements.

    >>> functx.unravel_index(jnp.asarray([1, 5]), (2, 3))
    (Array([0, 1], dtype=int64), Array([1, 2], dtype=int64))
    """
    if min(known_sizes(shape), default=0) < 0:
        refuse(f"`shape` must not be negative, got {list(shape)}", error=ValueError)
    if 0 in shape and indices.size:
        refuse(f"`shape` must have elements, got {list(shape)}")
    most = np.iinfo(as_dtype(LONG)).max
    if decided(lambda: math.prod(shape) > most, otherwise=False):
        refuse(f"`shape` must have no more than {most} elements, got {list(shape)}")
    positions = lax.convert_element_type(indices, as_dtype(LONG))
    strides = [max(math.prod(shape[axis + 1 :]), 1) for axis in range(len(shape))]
    return tuple(
        positions // stride % max(size, 1) for size, stride in zip(shape, strides, strict=True)
    )
