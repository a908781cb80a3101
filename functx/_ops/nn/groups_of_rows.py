"""Products of groups of rows with a matrix each, and of groups of columns with groups of rows.

Groups follow one another along a dimension, and end at `ends`. The dimension is cut there and at
the end of every block, so that each segment lies in one block and in one group. A segment costs the
product of one block: beside the products that are asked for, a block is computed for each group,
and no matrix is copied for its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array, lax
from jax.core import min_dim

from functx._core import accumulator
from functx._core.devices.manual_axes import varying_like
from functx._core.rules.custom_derivatives import derivative_rules

from .ends import ended


_BLOCK = 128


def _over_segments(
    ends: Array, length: int, block: int, start: Array, step: Callable[..., Array]
) -> Array:
    """The result of `step(group, start of the block, mask of its rows in the segment, so far)`,
    segment by segment.
    """
    cuts = jnp.concatenate([jnp.arange(0, length, block, ends.dtype), jnp.minimum(ends, length)])
    cuts = jnp.append(jnp.sort(cuts), jnp.asarray(length, ends.dtype))

    def over(i: Array, so_far: Array) -> Array:
        first, last = cuts[i], cuts[i + 1]
        group = ended(ends, first)
        at = jnp.minimum(first // block * block, length - block)  # the last block is moved back
        rows = at + jnp.arange(block, dtype=ends.dtype)
        mask = (rows >= first) & (rows < last) & (group < ends.shape[0])
        return step(jnp.minimum(group, ends.shape[0] - 1), at, mask, so_far)

    return lax.fori_loop(0, cuts.shape[0] - 1, over, varying_like(start, ends))


def _rows_product(rows: Array, matrices: Array, ends: Array) -> Array:
    m, n = rows.shape[0], matrices.shape[-1]
    out = jnp.zeros((m, n), rows.dtype)
    if rows.size == 0 or matrices.size == 0:
        return out
    block = min_dim(_BLOCK, m)

    def step(group: Array, at: Array, mask: Array, so_far: Array) -> Array:
        part = lax.dynamic_slice_in_dim(rows, at, block) @ matrices[group]
        known = lax.dynamic_slice_in_dim(so_far, at, block)
        part = jnp.where(mask[:, None], part, known)
        return lax.dynamic_update_slice_in_dim(so_far, part, at, 0)

    return _over_segments(ends, m, block, out, step)


def _inner_product(columns: Array, rows: Array, ends: Array) -> Array:
    (m, length), n = columns.shape, rows.shape[-1]
    wide = accumulator(columns.dtype)
    out = jnp.zeros((ends.shape[0], m, n), wide)
    if columns.size == 0 or out.size == 0:
        return out.astype(columns.dtype)
    block = min_dim(_BLOCK, length)

    def step(group: Array, at: Array, mask: Array, so_far: Array) -> Array:
        left = jnp.where(mask, lax.dynamic_slice_in_dim(columns, at, block, 1), 0)
        right = jnp.where(mask[:, None], lax.dynamic_slice_in_dim(rows, at, block), 0)
        part = jnp.matmul(left, right, preferred_element_type=wide)
        return so_far.at[group].add(part)

    return _over_segments(ends, length, block, out, step).astype(columns.dtype)


def _bilinear(product: Callable[..., Array]) -> Callable[..., Array]:
    def jvp(primals: Any, output: Array, tangents: Any) -> Array:
        left, right, ends = primals
        return product(tangents[0], right, ends) + product(left, tangents[1], ends)

    return jvp


def _rows_cotangents(primals: Any, output: Array, cotangent: Array) -> tuple[Any, ...]:
    rows, matrices, ends = primals
    of_rows = rows_by_matrices(cotangent, matrices.mT, ends)
    return of_rows, columns_by_rows(rows.mT, cotangent, ends), None


def _inner_cotangents(primals: Any, output: Array, cotangent: Array) -> tuple[Any, ...]:
    columns, rows, ends = primals
    of_columns = rows_by_matrices(rows, cotangent.mT, ends).mT
    return of_columns, rows_by_matrices(columns.mT, cotangent, ends), None


def rows_by_matrices(rows: Array, matrices: Array, ends: Array) -> Array:
    """`[m, k], [g, k, n], [g] -> [m, n]`: the rows of each group times its matrix; rows after the
    last group give 0.
    """
    return _rows(rows, matrices, ends)


def columns_by_rows(columns: Array, rows: Array, ends: Array) -> Array:
    """`[m, k], [k, n], [g] -> [g, m, n]`: a product for each group along the dimension `k`."""
    return _inner(columns, rows, ends)


_rows = derivative_rules(
    _rows_product, jvp=_bilinear(rows_by_matrices), vjp=_rows_cotangents, name="grouped_mm"
)
_inner = derivative_rules(
    _inner_product, jvp=_bilinear(columns_by_rows), vjp=_inner_cotangents, name="grouped_mm"
)
