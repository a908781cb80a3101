"""Rows of a table by their numbers, and the gradients of the table."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    accumulator,
    category,
    describe,
    only_stores,
    real_of,
    refuse,
    refuse_storage,
    rounded_first,
)
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.reductions.power_norms import vector_norm


def is_table(x: Any) -> bool:
    """Whether `x` may be a table of rows, and is no array of row numbers."""
    dtype = getattr(x, "dtype", None)
    return dtype is not None and (category(dtype) > 1 or only_stores(dtype))


def rows_of_table(
    index: Array,
    weight: Array,
    padding_idx: int | None,
    max_norm: Any,
    norm_type: float,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Array:
    """`[*n, width]` rows of a table `[rows, width]` for `[*n]` numbers; a row that does not exist
    is NaN.
    """
    check_table(index, weight, padding_idx, sparse)
    rows = weight.shape[0]
    beyond = jnp.where(index < 0, rows, index)
    fill = jnp.nan if category(weight.dtype) >= 2 else 0
    if rows == 0:
        return jnp.full((*index.shape, weight.shape[1]), fill, weight.dtype)
    out = weight.at[beyond].get(mode="fill", fill_value=fill)
    if padding_idx is not None:
        padding = (beyond == padding_idx % rows)[..., None]
        out = jnp.where(padding, lax.stop_gradient(out), out)
    if max_norm is not None:
        if only_stores(weight.dtype):
            refuse_storage(weight.dtype, f"{describe(weight)} and `max_norm`")
        if category(weight.dtype) < 2:
            refuse(f"`max_norm` is for floating tables, got {describe(weight)}", error=TypeError)
        # No derivative goes through the clipped rows, since some norms have no derivative.
        seen, limit = lax.stop_gradient((out, max_norm))
        out = _in_place_of(out, _clipped(seen, limit, norm_type))
    if scale_grad_by_freq:
        counts = jnp.zeros(rows, out.dtype).at[beyond.ravel()].add(1, mode="drop")
        share = 1 / counts.at[beyond].get(mode="fill", fill_value=1)[..., None]
        out = _with_share(out, share)
    return out


def check_table(index: Array, weight: Array, padding_idx: int | None, sparse: bool) -> None:
    """Refuses arguments that are no row numbers and no table."""
    if sparse:
        refuse(
            "`sparse` gradients do not exist: that of a table is dense",
            hint="leave it out; functx.sparse.row_grad gives the gradient of a table as the rows "
            "that were looked up",
            error=ValueError,
        )
    if category(index.dtype) != 1:
        refuse(f"`input` must hold integers, got {describe(index)}", error=TypeError)
    if weight.ndim != 2:
        refuse(f"`weight` must have 2 dimensions, got {describe(weight)}")
    rows = weight.shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            refuse(
                f"`padding_idx` must lie in [{-rows}, {rows - 1}], got {padding_idx}",
                error=IndexError,
            )


# These return one array as it is, with the gradient of another computation.
_in_place_of = derivative_rules(
    lambda raw, clipped: clipped, jvp=lambda p, output, t: t[0], name="in_place_of"
)
_with_share = derivative_rules(
    lambda x, share: x, jvp=lambda p, output, t: t[0] * p[1], name="with_share"
)


def _clipped(rows: Array, max_norm: Any, norm_type: float) -> Array:
    wide = rows.astype(accumulator(rows.dtype))
    norms = vector_norm(wide, norm_type, (rows.ndim - 1,))[..., None]
    # PyTorch's norm has the table's dtype, while its limit and its scale have more digits.
    norms = rounded_first(norms, real_of(rows.dtype))
    limit = lax.convert_element_type(max_norm, norms.dtype)
    scaled = (wide * (limit / (norms + 1e-7)).astype(wide.dtype)).astype(rows.dtype)
    return jnp.where(norms > limit, scaled, rows)
