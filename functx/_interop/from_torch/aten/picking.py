"""Indexing, splitting, joining and ordering under ATen's signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import OPERATORS
from functx._core.shapes.symbolic_sizes import known

from .copying import cast


def index(input: Array, indices: Sequence[Array | None]) -> Array:
    """`input[indices]`; None takes a whole dimension."""
    return input[_places(indices)]


def _places(indices: Sequence[Array | None]) -> tuple[Any, ...]:
    wide = lambda i: i if i.dtype in (bool, jnp.uint8) else cast(i, "int64")
    return tuple([slice(None) if i is None else wide(i) for i in indices])


def index_put(
    input: Array,
    indices: Sequence[Array | None],
    values: Array,
    accumulate: bool = False,
    unsafe: bool = False,
) -> Array:
    """`input` with `values` at the indices."""
    return OPERATORS["index_put"](input, tuple(indices), values, accumulate)


def masked_index(input: Array, mask: Array, indices: Sequence[Array | None], fill: Any) -> Array:
    """`input[indices]` where `mask` is true, and `fill` elsewhere."""
    safe = [None if i is None else OPERATORS["where"](mask, i, 0) for i in indices]
    return OPERATORS["where"](mask, index(input, safe), fill)


def masked_index_put(
    input: Array, mask: Array, indices: Sequence[Array | None], values: Array
) -> Array:
    """`input` with `values` added at the indices where `mask` is true."""
    safe = [None if i is None else OPERATORS["where"](mask, i, 0) for i in indices]
    kept = OPERATORS["where"](mask, values, 0)
    return index_put(input, safe, cast(kept, input.dtype.name), accumulate=True)


def sliced(input: Array, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Array:
    """A range of positions along a dimension, of which an end may be a symbolic size."""
    if known(*(n for n in (start, end) if n is not None)):
        return OPERATORS["slice"](input, dim, start, end, step)
    size = input.shape[dim]
    ends = [0 if start is None else start, size if end is None else end]
    first, last = [size if known(n) and n >= 2**31 else n for n in ends]
    first, last = [n + size if known(n) and n < 0 else n for n in (first, last)]
    return lax.slice_in_dim(input, first, last, step, axis=dim)


def narrowed(input: Array, dim: int, start: Any, length: Any) -> Array:
    """`length` positions along a dimension, which may be a symbolic size."""
    return sliced(input, dim, start, start + length)


def split(input: Array, split_size: Any, dim: int = 0) -> tuple[Array, ...]:
    """`input` in pieces of one size, or of several."""
    return OPERATORS["split"](input, split_size, dim)


def split_with_sizes(input: Array, split_sizes: Any, dim: int = 0) -> tuple[Array, ...]:
    """`input` in pieces of these sizes."""
    return OPERATORS["split"](input, tuple(split_sizes), dim)


def chunk_and_cat(tensors: Sequence[Array], dim: int, num_chunks: int) -> Array:
    """Each array in `num_chunks` rows along `dim`, zeros at their end, side by side."""
    rows = []
    for x in tensors:
        short = -x.shape[dim] % num_chunks
        pad = [0, 0] * (x.ndim - dim - 1) + [0, short]
        x = OPERATORS["nn.functional.pad"](x, pad)
        rows.append(x.reshape(*x.shape[:dim], num_chunks, -1))
    return OPERATORS["cat"](rows, dim + 1)


def unique(
    input: Array, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Array | None, ...]:
    """The different elements, where each came from, and how often."""
    return _with_gaps(
        OPERATORS["unique"](input, True, return_inverse, return_counts),
        return_inverse,
        return_counts,
    )


def unique_rows(
    input: Array,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[Array | None, ...]:
    """The different slices along `dim`."""
    found = OPERATORS["unique"](input, True, return_inverse, return_counts, dim)
    return _with_gaps(found, return_inverse, return_counts)


def unique_runs(
    input: Array, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Array | None, ...]:
    """The first of each run of equal elements, or of slices along `dim`."""
    found = OPERATORS["unique_consecutive"](input, return_inverse, return_counts, dim)
    return _with_gaps(found, return_inverse, return_counts)


def unique_runs_of_rows(
    input: Array, dim: int, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Array | None, ...]:
    """The first of each run of equal slices along `dim`."""
    return unique_runs(input, return_inverse, return_counts, dim)


def _with_gaps(found: Any, inverse: bool, counts: bool) -> tuple[Array | None, ...]:
    """Three results; None for one that was not asked for, which PyTorch gives empty."""
    if not (inverse or counts):
        return found, None, None
    rest = list(found[1:])
    return found[0], rest.pop(0) if inverse else None, rest.pop(0) if counts else None


def least_and_greatest(input: Array, dim: int | None = None, keepdim: bool = False) -> Any:
    """The least and the greatest element."""
    return OPERATORS["aminmax"](input, dim=dim, keepdim=keepdim)


def where_nonzero(input: Array) -> tuple[Array, ...]:
    """The positions of elements that are not zero, one array for each dimension."""
    return OPERATORS["nonzero"](input, as_tuple=True)
