"""Rules of primitives that read at indices, which are in range or not by each sequence's length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core.shapes.symbolic_sizes import known, Size

from .equations import PaddedEquation, PaddingRule
from .lengths import index_dtype
from .sizes import LaneSizes, ragged_dims


def read(equation: PaddedEquation) -> Sequence[Array]:
    """`gather`: indices are clamped or refused by the length of the sequence."""
    x, indices = equation.operands
    shape = equation.shapes[0]
    params, numbers = equation.params, equation.params["dimension_numbers"]
    mode = params["mode"]
    window = params["slice_sizes"]
    indexed = numbers.start_index_map
    padded = equation.sizes.padded_shape(window)
    # A window may reach beyond the padded end where it ends before the sequence's own.
    if _reaches(indexed, window, shape):
        reach = lambda d: padded[d] if d in indexed and not known(window[d]) else 0
        x = jnp.pad(x, [(0, reach(d)) for d in range(x.ndim)])
    if not (ragged_dims([shape[d] for d in indexed]) or ragged_dims([window[d] for d in indexed])):
        return equation.gated(equation.bound([x, indices], slice_sizes=padded))
    within, starts = in_bounds(equation.sizes, indices, indexed, shape, window)
    kept = dict(indices_are_sorted=False, mode=lax.GatherScatterMode.CLIP)
    (result,) = equation.bound([x, starts], slice_sizes=padded, **kept)
    if mode == lax.GatherScatterMode.FILL_OR_DROP:
        within = jnp.all(within, -1)
        batch = [d for d in range(result.ndim) if d not in numbers.offset_dims]
        within = lax.broadcast_in_dim(within, result.shape, batch)
        fill = lax.full_like(result, _fill_value(params["fill_value"], result.dtype))
        result = lax.select(within, result, fill)
    return equation.gated([result])


def _reaches(indexed: Sequence[int], window: Sequence[Size], shape: Sequence[Size]) -> bool:
    return any(not known(window[d]) and window[d] != shape[d] for d in indexed)


def in_bounds(
    sizes: LaneSizes,
    indices: Array,
    indexed: Sequence[int],
    shape: Sequence[Size],
    window: Sequence[Size],
) -> tuple[Array, Array]:
    """Where each index of windows is in range in a lane, and the indices, clamped to that."""
    last = [sizes.own(shape[d]) - sizes.own(window[d]) for d in indexed]
    bounds = jnp.stack([jnp.asarray(n) for n in last])
    bounds = jnp.maximum(bounds, 0).astype(_wide(indices.dtype))
    wide = indices.astype(bounds.dtype)
    within = (wide >= 0) & (wide <= bounds)
    return within, jnp.clip(wide, 0, bounds)


def _wide(dtype: Any) -> Any:
    """A signed dtype of indices."""
    wide = jnp.issubdtype(dtype, jnp.signedinteger) and dtype.itemsize >= 4
    return dtype if wide else index_dtype()


def _fill_value(value: Any, dtype: Any) -> Any:
    """What `gather` gives for indices out of range."""
    if value is not None:
        return value
    if jnp.issubdtype(dtype, jnp.inexact):
        return jnp.nan
    if dtype == jnp.bool_:
        return True
    info = jnp.iinfo(dtype)
    return info.min if jnp.issubdtype(dtype, jnp.signedinteger) else info.max


INDEXING: dict[str, PaddingRule] = {"gather": read}
