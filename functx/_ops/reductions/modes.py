"""The most frequent element."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayOnly, available, category, Dim, LONG, operator, Promote
from functx._core.numbers.bitwise_comparison import greatest_key, ordered_bits
from functx._ops.sorting.orders import stable_order

from .emptiness import refuse_empty
from .scanning import running_maximum
from .ties import picked, places


__all__ = ["mode"]


class ModeResult(NamedTuple):
    """The elements that `mode` finds along a dimension, and their positions."""

    values: Array
    indices: Array


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL)
def mode(input: ArrayOnly, dim: Dim = -1, keepdim: bool = False) -> ModeResult:
    """The most frequent element of `input` along `dim`, and its last index: `(values, indices)`.

    Among equally frequent elements it is the least. NaN equals nothing, and counts as greater than
    every number; if all are NaN the index is the first.

    - `dim`: one dimension, by default the last.
    - `keepdim`: whether the reduced dimension stays with size 1.

    Shapes: `[..., n, ...] -> [..., ...]` twice.
    Dtypes: that of `input`; indices are int64.
    Gradients: the element at the index gets that of its value.
    Errors: IndexError if the dimension is empty, TypeError for complex numbers.

    >>> values, indices = functx.mode(jnp.asarray([3.0, 1.0, 2.0, 1.0], "float32"))
    >>> values, indices.tolist()
    (Array(1., dtype=float32), 3)
    """
    if input.ndim == 0:
        return ModeResult(input, jnp.zeros((), available(LONG)))
    if input.shape[dim] == 0:
        refuse_empty(input, dim)
    return ModeResult(*picked(input, _position(lax.stop_gradient(input), dim), dim, keepdim))


def _position(x: Array, dim: int) -> Array:
    """The index of the mode along `dim`, which stays with size 1."""
    order = stable_order(x, dim)
    keys = jnp.take_along_axis(ordered_bits(x), order, dim, mode="promise_in_bounds")
    n = x.shape[dim]
    before, after = (lax.slice_in_dim(keys, i, n - 1 + i, axis=dim) for i in (0, 1))
    changes = before != after
    if category(x.dtype) == 2:
        changes |= after == greatest_key(keys.dtype)
    first = lax.slice_in_dim(jnp.ones_like(keys, bool), 0, 1, axis=dim)
    starts = lax.concatenate([first, changes], dim)
    at = places(keys, dim)
    # Each element counts the equal ones before it; the last one of the longest run counts most.
    length = at - running_maximum(jnp.where(starts, at, 0), dim)
    longest = jnp.argmax(length, axis=dim, keepdims=True)
    return jnp.take_along_axis(order, longest, dim, mode="promise_in_bounds")
