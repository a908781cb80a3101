"""The middle element in order of size."""

from __future__ import annotations

from typing import NamedTuple, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    available,
    category,
    Dim,
    LONG,
    lowest,
    operator,
    Promote,
    refuse,
)
from functx._core.order import greatest_key, ordered_bits

from .emptiness import refuse_empty
from .ranks import position_of_rank
from .ties import picked, shared_evenly, taken


__all__ = ["median"]


class MedianResult(NamedTuple):
    """What `median` over one dimension gives."""

    values: Array
    indices: Array


@overload
def median(input: ArrayLike) -> Array: ...
@overload
def median(input: ArrayLike, dim: Dim, keepdim: bool = False) -> MedianResult: ...
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL_NUMBER)
def median(input: ArrayLike, dim: Dim | None = None, keepdim: bool = False) -> Array | MedianResult:
    """The middle element; of an even number, the smaller of the two. NaN if there is a NaN.

    Without `dim`, of all elements; with it, `(values, indices)` along it. Of an empty array it
    is NaN, or the least integer.

    Shapes: `[...] -> []`, or `[..., n, ...] -> [..., ...]` twice; with `keepdim`, `n` becomes 1.
    Dtypes: indices are int64.
    Ties: the index is where a stable sort has it, and it gets the gradient; without `dim`, equal
    elements share it evenly.
    Errors: IndexError if the dimension is empty.

    >>> functx.median(jnp.asarray([[4.0, 1.0, 3.0], [0.0, 2.0, 9.0]], "float32"), 1).values
    Array([3., 2.], dtype=float32)
    """
    if dim is None:
        if keepdim:
            refuse("`keepdim` goes with `dim`, got no `dim`", error=TypeError)
        return _of_all(jnp.ravel(input))
    if input.ndim == 0:
        return MedianResult(input, jnp.zeros((), available(LONG)))
    if input.shape[dim] == 0:
        refuse_empty(input, dim)
    return MedianResult(*picked(input, _position(input, dim), dim, keepdim))


def _of_all(flat: Array) -> Array:
    if flat.size == 0:
        return jnp.full(
            (), jnp.nan if category(flat.dtype) == 2 else lowest(flat.dtype), flat.dtype
        )
    return shared_evenly(lambda x: taken(x, _position(x, 0), 0)[0], (0,))(flat)


def _position(input: Array, dim: int) -> Array:
    """The index of the median along `dim`, which stays with size 1; of the first NaN, if any."""
    keys = ordered_bits(lax.stop_gradient(input))
    rank = jnp.full_like(lax.slice_in_dim(keys, 0, 1, axis=dim), 0, "int32")
    middle = rank + np.int32((input.shape[dim] - 1) // 2)
    if category(input.dtype) == 2:
        nan = keys == greatest_key(keys.dtype)
        count = jnp.sum(nan, dim, dtype=np.int32, keepdims=True)
        middle = jnp.where(count > 0, np.int32(input.shape[dim]) - count, middle)
    return position_of_rank(keys, middle, dim)
