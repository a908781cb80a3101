"""Rules of primitives that write at indices: padding of what is written is written nowhere."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array, lax

from functx._core.shapes.symbolic_sizes import known, Size

from .equations import CannotHonour, PaddedEquation, PaddingRule
from .indexing import in_bounds
from .sizes import taken


def written(equation: PaddedEquation) -> Sequence[Array]:
    """`scatter` and its kin."""
    x, indices, updates = equation.operands
    shape, index_shape, _ = equation.shapes
    params, numbers = equation.params, equation.params["dimension_numbers"]
    indexed = numbers.scatter_dims_to_operand_dims
    own_dims = [
        d
        for d in range(x.ndim)
        if d not in numbers.inserted_window_dims and d not in numbers.operand_batching_dims
    ]
    window = [1] * x.ndim
    for d, of_update in zip(own_dims, numbers.update_window_dims, strict=True):
        window[d] = equation.shapes[2][of_update]
    if any(not known(window[d]) and window[d] != shape[d] for d in indexed):
        return _one_window(equation, window)
    ragged_indices = any(not known(n) for n in index_shape[:-1])
    if ragged_indices or any(not known(shape[d]) for d in indexed):
        within, starts = in_bounds(equation.sizes, indices, indexed, shape, window)
        if params["mode"] == lax.GatherScatterMode.CLIP:
            within = jnp.ones_like(within)
        real = equation.sizes.mask(index_shape)
        within = within if real is None else within & real
        indices = jnp.where(within, starts, -1)
        kept = dict(
            mode=lax.GatherScatterMode.FILL_OR_DROP,
            indices_are_sorted=False,
            unique_indices=params["unique_indices"] and not ragged_indices,
        )
        updates = equation.filled(2, 0)
        return equation.gated(equation.bound([x, indices, updates], **kept))
    return equation.gated(equation.bound([x, indices, equation.filled(2, 0)]))


def _one_window(equation: PaddedEquation, window: Sequence[Size]) -> Sequence[Array]:
    """One write of a window whose own size is that of each sequence: `x.at[1:].set(y)`."""
    numbers, name = equation.params["dimension_numbers"], equation.eqn.primitive.name
    indexed, shape = numbers.scatter_dims_to_operand_dims, equation.shapes[0]
    if len(equation.shapes[1]) != 1 or name not in ("scatter", "scatter-add", "scatter_add"):
        raise CannotHonour("it writes several windows whose size differs from sequence to sequence")
    x, indices, update = equation.operands
    within, starts = in_bounds(equation.sizes, indices, indexed, shape, window)
    update = lax.expand_dims(update, numbers.inserted_window_dims)
    inside = jnp.broadcast_to(jnp.all(within), x.shape)
    if equation.params["mode"] == lax.GatherScatterMode.CLIP:
        inside = jnp.ones_like(inside)
    for i, dim in enumerate(indexed):
        places = jnp.arange(x.shape[dim]) - starts[i]
        here = (places >= 0) & (places < equation.sizes.own(window[dim]))
        inside &= lax.broadcast_in_dim(here, x.shape, [dim])
        update = taken(update, dim, places)
    changed = update if name == "scatter" else x + update
    return equation.gated([lax.select(inside, changed, x)])


def written_at(equation: PaddedEquation) -> Sequence[Array]:
    """`dynamic_update_slice`: what is written begins where each sequence has room for it."""
    x, update, *starts = equation.operands
    shape, of_update = equation.shapes[:2]
    inside = None
    for dim, start in enumerate(starts):
        if shape[dim] == of_update[dim]:
            continue
        places = jnp.arange(x.shape[dim])
        count = equation.sizes.own(of_update[dim])
        last = jnp.maximum(equation.sizes.own(shape[dim]) - count, 0)
        start = jnp.clip(start.astype(places.dtype), 0, last)
        here = (places >= start) & (places < start + count)
        here = lax.broadcast_in_dim(here, x.shape, [dim])
        inside = here if inside is None else inside & here
        update = taken(update, dim, places - start)
    if inside is None:
        return [update]
    return equation.gated([lax.select(inside, update, x)])


WRITING: dict[str, PaddingRule] = {
    **dict.fromkeys(
        (
            "scatter",
            "scatter-add",
            "scatter_add",
            "scatter_sub",
            "scatter-sub",
            "scatter_mul",
            "scatter-mul",
            "scatter_min",
            "scatter-min",
            "scatter_max",
            "scatter-max",
        ),
        written,
    ),
    "dynamic_update_slice": written_at,
}
