"""The element that occurs most often."""

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
    """What `mode` gives."""

    values: Array
    indices: Array


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL)
def mode(input: ArrayOnly, dim: Dim = -1, keepdim: bool = False) -> ModeResult:
    """The element that occurs most often along `dim`, and its last index: `(values, indices)`.

    Of several the least. No NaN equals another, and NaN counts as greater than every number; of
    NaN alone the index is the first one's.

    Shapes: `[..., n, ...] -> [..., ...]` twice; with `keepdim`, `n` becomes 1.
    Dtypes: indices are int64.
    Gradients: the index gets that of its value.
    Errors: IndexError if the dimension is empty.

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
    # How many equal ones come before each: most of them before the last of the longest run.
    length = at - running_maximum(jnp.where(starts, at, 0), dim)
    longest = jnp.argmax(length, axis=dim, keepdims=True)
    return jnp.take_along_axis(order, longest, dim, mode="promise_in_bounds")
