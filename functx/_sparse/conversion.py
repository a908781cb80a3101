"""Sparse arrays of dense ones, and back."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.experimental.sparse import BCOO

from functx._core import category, describe, explain_unknown_keywords, fail, Requirement
from functx._core.context.user_contexts import checking_values
from functx._core.jax_compat import staging_trace
from functx._core.operators.concrete_values import peek
from functx._core.operators.value_requirements import check_inside

from .layouts import (
    first_of_each,
    like,
    positions,
    require_array,
    require_bcoo,
    require_fit,
    require_unbatched,
)


__all__ = ["coalesce", "sparse_mask", "to_dense", "to_sparse"]


@explain_unknown_keywords("sparse.to_sparse")
def to_sparse(input: Any, sparse_dim: int | None = None, *, nse: int | None = None) -> BCOO:
    """The elements of `input` that are not zero, and their indices.

    - `input`: a dense array of any dtype.
    - `sparse_dim`: how many dimensions, the first ones, have indices; the others are dense: a slice
      across them is stored whole, if one of its elements is not zero. None is all dimensions.
    - `nse`: how many values to store. It is counted if it is None, which `jit` cannot do. Where
      there are fewer, indices behind the end of the array pad them.

    Shapes: `[*n]` gives a `BCOO` of that shape, with sorted and unique indices, int32 where that
    holds the sizes.
    Gradients: an element that is not stored, a zero, has a gradient of zero.
    Errors: TypeError for what is no array, ValueError for `sparse_dim` out of range, for an `nse`
    that is too small, and without `nse` under `jit`. A program that was compiled cannot raise:
    where `nse` is too small its floating values are NaN, and `functx.debug.checked` raises.
    Source: `torch.Tensor.to_sparse`.

    >>> x = functx.sparse.to_sparse(jnp.asarray([[0.0, 2.0], [0.0, 0.0]], "float32"))
    >>> x, x.indices
    (BCOO(float32[2, 2], nse=1), Array([[0, 1]], dtype=int32))
    """
    who = "sparse.to_sparse"
    x = require_array(who, "input", input)
    count = x.ndim if sparse_dim is None else sparse_dim
    if (
        isinstance(count, bool)
        or not isinstance(count, int)
        or not min(x.ndim, 1) <= count <= x.ndim
    ):
        fail(
            who,
            f"`sparse_dim` must lie in [{min(x.ndim, 1)}, {x.ndim}] for {describe(x)}, got "
            f"{describe(sparse_dim)}",
            error=ValueError,
        )
    if x.ndim == 0:
        indices = jnp.zeros((1, 0), np.int32)
        return BCOO((x[None], indices), shape=(), indices_sorted=True, unique_indices=True)
    stored = x if x.dtype == bool else x != 0
    stored = stored.any(axis=tuple(range(count, x.ndim)))
    found = jnp.sum(stored)
    nse = _number_to_store(who, nse, found)
    shape = x.shape[:count]
    dtype = np.int32 if max(shape) <= np.iinfo(np.int32).max else np.int64
    places = jnp.nonzero(stored, size=nse, fill_value=shape)
    data = x.at[places].get(mode="fill", fill_value=0)
    indices = jnp.stack(places, -1).astype(dtype)
    data = _if_enough(who, data, found, nse)
    return BCOO((data, indices), shape=x.shape, indices_sorted=True, unique_indices=True)


def _number_to_store(who: str, nse: Any, found: Array) -> int:
    known = peek(found)
    if nse is None:
        if known is None:
            fail(
                who,
                "`nse` must be given where values are not known, as under jit",
                hint="nse=count stores up to so many values",
                error=ValueError,
            )
        return int(known.max(initial=0))
    if isinstance(nse, bool) or not isinstance(nse, int) or nse < 0:
        fail(who, f"`nse` must be None or an int from 0 on, got {describe(nse)}", error=ValueError)
    if known is not None and known.max(initial=0) > nse:
        fail(
            who,
            f"`nse` must be at least {known.max()}, the number of elements to store, got {nse}",
            error=ValueError,
        )
    return nse


def _if_enough(who: str, data: Array, found: Array, nse: int) -> Array:
    """`data` in a compiled program, if `nse` values are enough."""
    if peek(found) is not None:
        return data
    enough = found <= nse
    if checking_values.value and staging_trace() is not None:
        message = f"`nse`={nse} is less than the number of elements to store, {{got}}"
        check_inside(who, [Requirement(enough, message, got=found, error=ValueError)])
    return jnp.where(enough, data, jnp.nan) if category(data.dtype) >= 2 else data


@explain_unknown_keywords("sparse.to_dense")
def to_dense(input: Any, dtype: Any = None) -> Array:
    """The dense array of a sparse one: stored values with the same indices are added.

    - `input`: a `BCOO`, with any batch and dense dimensions.
    - `dtype`: the dtype of the result; None is that of `input`.

    Shapes: that of `input`.
    Gradients: a `BCOO` with the indices of `input`, as of PyTorch's `masked_grad=True`.
    Errors: TypeError for what is no `BCOO`.
    Source: `torch.Tensor.to_dense`.

    >>> x = jnp.asarray([[0.0, 2.0], [0.0, 0.0]], "float32")
    >>> functx.sparse.to_dense(functx.sparse.to_sparse(x))
    Array([[0., 2.],
           [0., 0.]], dtype=float32)
    """
    x = require_bcoo("sparse.to_dense", "input", input)
    if x.dtype == bool:
        counts = BCOO((x.data.astype(np.int32), x.indices), shape=x.shape)
        dense = counts.todense() != 0
    else:
        dense = x.todense()
    return dense if dtype is None else dense.astype(dtype)


@explain_unknown_keywords("sparse.sparse_mask")
def sparse_mask(input: Any, mask: Any) -> BCOO:
    """The elements of `input` at the indices of `mask`.

    - `input`: a dense array, or a `BCOO`, which is made dense for this.
    - `mask`: a `BCOO` of the same shape without batch dimensions. Its values do not matter. Where
      indices occur twice, the first has the element and the others have zero, so that the dense
      array of the result has each element once.

    Shapes and dtypes: the shape and the indices of `mask`, the dtype of `input`.
    Gradients: of a dense `input`, a dense array that is zero where `mask` stores nothing.
    Errors: TypeError for what is no array or no `BCOO`, RuntimeError for different shapes,
    ValueError for batch dimensions.
    Source: `torch.Tensor.sparse_mask`.

    >>> mask = functx.sparse.to_sparse(jnp.asarray([[0, 1], [1, 0]]))
    >>> functx.sparse.sparse_mask(jnp.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"), mask).data
    Array([2., 3.], dtype=float32)
    """
    who = "sparse.sparse_mask"
    mask = require_unbatched(who, "mask", mask)
    x = to_dense(input) if isinstance(input, BCOO) else require_array(who, "input", input)
    require_fit(who, "input", x.shape, mask.shape)
    if mask.n_sparse:
        data = x.at[positions(mask)].get(mode="fill", fill_value=0)
    else:
        data = jnp.broadcast_to(x, (mask.nse, *x.shape))
    first = first_of_each(mask).reshape(-1, *(1,) * mask.n_dense)
    return like(mask, jnp.where(first, data, jnp.zeros((), data.dtype)))


@explain_unknown_keywords("sparse.coalesce")
def coalesce(input: Any, *, nse: int | None = None) -> BCOO:
    """The same sparse array with sorted indices, each once: values with the same ones are added.

    - `input`: a `BCOO` without batch dimensions.
    - `nse`: how many values the result has room for; None is as many as `input`. What is left over
      is padded with zeros, whose indices lie behind the end of the array.

    Shapes and dtypes: those of `input`.
    Errors: TypeError for what is no `BCOO`, ValueError for batch dimensions and for an `nse` that
    is no number from 0 on. Under `jit`, an `nse` that is too small makes floating values NaN, and
    `functx.debug.checked` raises.
    Source: `torch.Tensor.coalesce`, which counts the values.

    >>> from jax.experimental.sparse import BCOO
    >>> data, indices = jnp.asarray([1.0, 2.0], "float32"), jnp.asarray([[1], [1]], "int32")
    >>> x = functx.sparse.coalesce(BCOO((data, indices), shape=(3,)), nse=1)
    >>> x.data, x.indices
    (Array([3.], dtype=float32), Array([[1]], dtype=int32))
    """
    who = "sparse.coalesce"
    x = require_unbatched(who, "input", input)
    if x.n_sparse == 0:
        return BCOO((x.data.sum(0, keepdims=True), x.indices[:1]), shape=x.shape)
    end = jnp.asarray(x.shape[: x.n_sparse], x.indices.dtype)
    kept = jnp.all(x.indices < end, axis=1, keepdims=True)
    indices = jnp.where(kept, x.indices, end)
    order = jnp.lexsort(tuple(indices[:, d] for d in reversed(range(x.n_sparse))))
    ordered = indices[order]
    new = jnp.any(ordered[1:] != ordered[:-1], axis=1)
    new = jnp.concatenate([jnp.ones(min(x.nse, 1), bool), new])
    place = jnp.cumsum(new) - 1
    real = kept[order, 0]
    found = jnp.sum(new & real)
    size = x.nse if nse is None else _number_to_store(who, nse, found)
    place = jnp.where(real, place, size)  # what is padding goes nowhere
    data = jnp.zeros((size, *x.data.shape[1:]), x.data.dtype)
    write = data.at[place].max if x.dtype == bool else data.at[place].add
    data = write(x.data[order], mode="drop")
    where = jnp.broadcast_to(end, (size, x.n_sparse)).at[place].set(ordered, mode="drop")
    if nse is not None:
        data = _if_enough(who, data, found, size)
    return BCOO((data, where), shape=x.shape, indices_sorted=True, unique_indices=True)
