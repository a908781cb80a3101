"""Writing at positions given for several dimensions at once, as `x[i, j] = v` does."""

from __future__ import annotations

import functools as ft
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, core

from functx._core import (
    accumulator,
    ArrayLike,
    as_number,
    Autocast,
    broadcasts_to,
    category,
    decided,
    describe,
    index_in_range,
    is_number,
    known,
    operator,
    Promote,
    refuse,
    Requirement,
    Size,
    UnpromotedArrays,
)

from .addressing import cast_number, check_same_dtype, positions_where


__all__ = ["index_put"]


def _positions_inside(*, input: Any, indices: Any, values: Any, **_: Any) -> Iterator[Requirement]:
    at = 0
    for n, index in enumerate(indices):
        if index is None:
            at += 1
        elif _is_mask(index):
            at += index.ndim
        else:
            yield index_in_range(index, input.shape[at], name=f"indices[{n}]", negative=True)
            at += 1
    if any(map(_is_mask, indices)):
        yield from _counts_agree(input, indices, values)


def _is_mask(index: Any) -> bool:
    return index is not None and index.dtype == np.bool_


def _counts_agree(input: Array, indices: Any, values: Array) -> Iterator[Requirement]:
    """Requires that all indices pick equally many positions, or one, and that `values` fit them."""
    counts = [jnp.count_nonzero(i) for i in indices if _is_mask(i)]
    lengths = [(i.shape or (1,))[-1] for i in indices if i is not None and not _is_mask(i)]
    picked = jnp.asarray(1)
    for count in (*counts, *lengths):
        yield Requirement(
            (count == 1) | (picked == 1) | (count == picked),
            "`indices` must pick equally many positions, got one that picks {got}",
            got=jnp.asarray(count),
            error=IndexError,
        )
        picked = jnp.where(picked == 1, count, picked)
    # The picked positions are one dimension, followed by those that no index consumed.
    advanced = [n for n, i in enumerate(indices) if i is not None]
    together = advanced == list(range(advanced[0], advanced[0] + len(advanced)))
    flat = all(i.ndim <= 1 or _is_mask(i) for i in indices if i is not None)
    consumed = sum(i.ndim if _is_mask(i) else 1 for i in indices)
    after = indices[advanced[-1] :] if together else indices  # split, they come first
    trailing = input.ndim - consumed + sum(i is None for i in after)
    if flat and values.ndim > trailing:
        offered = values.shape[values.ndim - trailing - 1]
        yield Requirement(
            (picked == offered) | (offered == 1),
            f"`values` must have 1 or {{got}} entries for the mask, got {describe(values)}",
            got=picked,
        )


@operator(
    promote=Promote.NONE,
    requires=_positions_inside,
    takes_storage_dtypes=True,
    autocast=Autocast.WIDEST,
    autocast_cpu=Autocast.KEEP,
)
def index_put(
    input: ArrayLike, indices: UnpromotedArrays, values: ArrayLike, accumulate: bool = False
) -> Array:
    """A copy of `input` with `values` at `input[indices]`, or added there.

    - `input`: an array `[n, ...]` of any dtype.
    - `indices`: a sequence with one entry for each of the first dimensions: an int32 or int64 array
      of positions (a negative one counts from the end), a bool mask for as many dimensions as it
      has itself, or None for a whole dimension. Positions broadcast together, as in NumPy's
      indexing.
    - `values`: an array of the dtype of `input`, or a number, which is cast to it.
    - `accumulate`: whether values are added to the elements of `input`, sums of halves in float32;
      bools are joined by "or".

    Shapes: `values` broadcasts to the shape of `input[indices]`; the result has the shape of
    `input`.
    Gradients: if several values are written to one place, the one that stays gets the gradient,
    which PyTorch gives to all.
    Errors: IndexError for positions outside of `[-n, n)` and masks of another shape, TypeError if
    `values` has another dtype, RuntimeError if it does not broadcast. Under `jit`, writes to
    positions outside are dropped, and so are `values` beyond what a mask picks.

    >>> functx.index_put(
    ...     jnp.zeros((2, 2), "float32"), (jnp.asarray([0, 1]), jnp.asarray([1, 1])), jnp.float32(5)
    ... )
    Array([[0., 5.],
           [0., 5.]], dtype=float32)
    """
    if not indices:
        refuse("`indices` must name at least one dimension, got none", error=IndexError)
    if is_number(values):
        values = cast_number(values, input.dtype, "values")
    check_same_dtype(input, values, "values")
    index = [None if i is None else jnp.asarray(i) for i in indices]
    x, index = _with_dimensions_for_0d_masks(input, index)
    positions, picked = _positions(x, input, index)
    if picked is not None:
        values = _padded_to(values, x, positions, picked)
    where = tuple(slice(None) if p is None else p for p in positions)
    at = jax.eval_shape(lambda: x[where])
    if not broadcasts_to(values.shape, at.shape):
        refuse(f"`values` must broadcast to {list(at.shape)}, got {describe(values)}")
    if not accumulate:
        out = x.at[where].set(values, mode="drop")
    elif category(x.dtype) == 0:
        out = x.at[where].max(values, mode="drop")
    else:
        wide = accumulator(x.dtype)
        out = x.astype(wide).at[where].add(values.astype(wide), mode="drop").astype(x.dtype)
    return out.reshape(input.shape)


def _with_dimensions_for_0d_masks(
    x: Array, index: list[Array | None]
) -> tuple[Array, list[Array | None]]:
    """`x` and the indices with a further dimension of size 1 for each 0-d mask.

    A 0-d mask that is True picks the one element of its dimension.
    """
    out, at = [], 0
    for i in index:
        if i is not None and i.dtype == np.bool_ and i.ndim == 0:
            x, i = jnp.expand_dims(x, at), i.reshape(1)
        out.append(i)
        at += i.ndim if i is not None and i.dtype == np.bool_ else 1
    return x, out


def _positions(
    x: Array, input: Array, index: list[Array | None]
) -> tuple[list[Array | None], int | None]:
    """Non-negative positions for every dimension, and the length that masks were given.

    A mask becomes as many positions as it has elements; those beyond its True ones lie outside of
    the array. So the shape depends on no value, and writes to positions outside are dropped.
    """
    consumed = sum(i.ndim if i is not None and i.dtype == np.bool_ else 1 for i in index)
    if consumed > x.ndim:
        refuse(
            f"`indices` must name at most {input.ndim} dimensions, got {len(index)}",
            error=IndexError,
        )
    at, out, masks = 0, [], []
    for n, i in enumerate(index):
        if i is None:
            out.append(None)
            at += 1
        elif i.dtype == np.bool_:
            shape = x.shape[at : at + i.ndim]
            if i.shape != shape:
                refuse(
                    f"`indices[{n}]` must have the shape {list(shape)} of the dimensions it masks, "
                    f"got {describe(i)}",
                    error=IndexError,
                )
            masks.append((len(out), i))
            out.extend([None] * i.ndim)
            at += i.ndim
        elif i.dtype in (np.int32, np.int64):
            if x.shape[at] == 0 and all(j is None or j.size for j in index):
                refuse(
                    f"`indices[{n}]` must be empty for a dimension of size 0, got {describe(i)}",
                    error=IndexError,
                )
            out.append(jnp.where(i < 0, i + x.shape[at], i))
            # A position that is still negative would count from the end once more.
            out[-1] = jnp.where(out[-1] < 0, x.shape[at], out[-1])
            at += 1
        else:
            refuse(
                f"`indices[{n}]` must be int32, int64 or bool, got {describe(i)}", error=IndexError
            )
    if not masks:
        return out, None
    return _with_masks(x, out, masks)


def _with_masks(
    x: Array, positions: list[Array | None], masks: list[tuple[int, Array]]
) -> tuple[list[Array | None], int]:
    others = [(n, jnp.atleast_1d(p)) for n, p in enumerate(positions) if p is not None]
    lengths = [p.shape[-1] for _, p in others]
    length = ft.reduce(core.max_dim, [mask.size for _, mask in masks] + lengths)
    counts = [jnp.count_nonzero(mask) for _, mask in masks]
    picked = counts[0]
    for count in (*counts[1:], *lengths):
        picked = jnp.where(picked == 1, count, picked)
    slots = jnp.arange(length)
    for n, p in others:
        if p.shape[-1] != 1:
            p = _lengthened(p, p.ndim - 1, length, x.shape[n])
        positions[n] = p
    for (n, mask), count in zip(masks, counts, strict=True):
        flat = positions_where(mask.ravel(), length)
        flat = jnp.where(count == 1, flat[:1], flat)
        inside = (slots < picked) & (flat < mask.size)
        for d in reversed(range(mask.ndim)):
            extent = max(mask.shape[d], 1)
            positions[n + d] = jnp.where(inside, flat % extent, x.shape[n + d])
            flat = flat // extent
    return positions, length


def _padded_to(values: Array, x: Array, positions: list[Array | None], length: int) -> Array:
    """`values` filled up to the length of the positions that masks became, unless it broadcasts."""
    advanced = [n for n, p in enumerate(positions) if p is not None]
    together = advanced[-1] - advanced[0] == len(advanced) - 1
    after = sum(p is None for p in positions[advanced[-1] :]) + x.ndim - len(positions)
    # Split by a whole dimension, the picked ones come first, as in NumPy.
    trailing = after if together else x.ndim - len(advanced)
    axis = values.ndim - 1 - trailing
    if axis < 0 or values.shape[axis] in (1, length):
        return values
    if decided(lambda: values.shape[axis] > length, otherwise=False):
        refuse(f"`values` must have at most {length} entries for the mask, got {describe(values)}")
    return _lengthened(values, axis, length, 0)


def _lengthened(x: Array, axis: int, length: Size, fill: Size) -> Array:
    """`x` filled up with `fill` to the given length, at its end along `axis`."""
    n = x.shape[axis]
    if known(n, length):
        padding = [(0, length - n if d == axis else 0) for d in range(x.ndim)]
        return jnp.pad(x, padding, constant_values=fill)
    if n == 0:
        return jnp.full([length if d == axis else m for d, m in enumerate(x.shape)], fill, x.dtype)
    # A symbolic size may be 1, of which the one element is everywhere.
    at = jnp.where(jnp.asarray(n) == 1, 0, jnp.arange(length))
    number = as_number(fill, x.dtype)
    return jnp.where(_beside(at < n, axis, x), jnp.take(x, at, axis, mode="clip"), number)


def _beside(line: Array, axis: int, x: Array) -> Array:
    """A vector with dimensions of size 1 added, so that it lies along `axis` of `x`."""
    return jnp.expand_dims(line, [d for d in range(x.ndim) if d != axis])
