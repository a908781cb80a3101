"""Products of the rows of a batch with one matrix, as products of two matrices on CPUs."""

from __future__ import annotations

import math

import jax
from jax import Array, lax

from functx._core import sharded_explicitly


def row_products(rows: Array, matrix: Array) -> Array:
    """`rows: [..., k]` times `matrix: [k, n]`."""
    leading = rows.shape[:-1]
    flat = _gains_by_one_dimension(rows)
    left = rows.reshape(math.prod(leading), rows.shape[-1]) if flat else rows
    out = lax.dot_general(left, matrix, (((left.ndim - 1,), (0,)), ((), ())))
    return out.reshape(*leading, matrix.shape[1]) if flat else out


def _gains_by_one_dimension(rows: Array) -> bool:
    """Whether the leading dimensions become one.

    The matrix's gradient sums over all of them. Where they are several, XLA for CPUs first writes
    the cotangent down transposed, which is an eighth of the whole gradient's time. It does so in
    `linear` too, but there the product that follows is faster for it. On accelerators the
    dimensions stay apart: a mesh may shard each of them, whereas a dimension made of several can
    only be sharded as the first of them was.
    """
    return jax.default_backend() == "cpu" and not sharded_explicitly(jax.typeof(rows))
