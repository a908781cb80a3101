"""The extreme element over dimensions and its position, also among elements that a mask keeps."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable

import jax.numpy as jnp
from jax import Array, lax

from functx._core import as_number, available, axes_of, Dims, LONG
from functx._core.numbers.bitwise_comparison import least, same

from .emptiness import refuse_empty, refuse_nothing
from .ties import places, shared_evenly


def extremum(
    reduce: Callable[..., Array],
    input: Array,
    dim: Dims,
    keepdim: bool,
    kept: Array | None = None,
) -> Array:
    """The element that `reduce`, the greatest or the least, picks over `dim`.

    Equal elements share the gradient evenly; if `kept` is given, only the kept ones do.
    """
    axes = axes_of(dim, input.ndim)
    for axis in axes:
        if input.shape[axis] == 0 and dim:
            refuse_empty(input, axis)
    if input.size == 0 and not dim:
        refuse_nothing(input)
    out = shared_evenly(ft.partial(reduce, axis=axes), axes, kept)(input)
    return jnp.expand_dims(out, axes) if keepdim else out


def position(
    reduce: Callable[..., Array], input: Array, dim: int | None, kept: Array | None = None
) -> Array:
    """The first position of the extreme element along `dim`, which stays with size 1.

    If `kept` is given and keeps any element, it is the first of the kept ones.
    """
    if input.ndim == 0:
        return jnp.zeros((), available(LONG))
    if dim is not None and input.shape[dim] == 0:
        refuse_empty(input, dim)
    if dim is None and input.size == 0:
        refuse_nothing(input, IndexError)
    fixed = lax.stop_gradient(input)  # an index has no derivative
    x, axis = (jnp.ravel(fixed), 0) if dim is None else (fixed, dim)
    # XLA vectorises two reductions, but not one of values together with their positions.
    found = same(x, reduce(x, axis=axis, keepdims=True))
    if kept is not None:
        kept = jnp.reshape(kept, x.shape)
        found &= kept | ~jnp.any(kept, axis, keepdims=True)
    where = places(x, axis)
    after = as_number(x.shape[axis], where.dtype)
    index = least(jnp.where(found, where, after), axis, keepdims=True)
    return jnp.reshape(index, (1,) * input.ndim) if dim is None else index


def placed(index: Array, ndim: int, dim: int | None, keepdim: bool) -> Array:
    """A `position` as `argmax` gives it: int64, and without the dimension unless `keepdim`."""
    index = index.astype(available(LONG))
    if keepdim or ndim == 0:
        return index
    return jnp.reshape(index, ()) if dim is None else jnp.squeeze(index, dim)
