"""Grids and choices: every element of some vectors beside every element of the others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Literal, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, core, lax

from functx._core import (
    ArrayLike,
    Arrays,
    as_dtype,
    describe,
    known,
    LONG,
    operator,
    Promote,
    refuse,
    Size,
)
from functx._ops.indexing.addressing import positions_where

from .listing import listed_form


__all__ = ["cartesian_prod", "combinations", "meshgrid"]

_MOST = 2**28  # positions, which take 2 GiB of the host's memory


@overload
def meshgrid(
    *tensors: ArrayLike, indexing: Literal["ij", "xy"] | None = None
) -> tuple[Array, ...]: ...
@overload
def meshgrid(
    tensors: Sequence[ArrayLike], *, indexing: Literal["ij", "xy"] | None = None
) -> tuple[Array, ...]: ...
@operator(promote=Promote.SAME, other_signatures=listed_form, takes_storage_dtypes=True)
def meshgrid(tensors: Arrays, *, indexing: Literal["ij", "xy"] | None = None) -> tuple[Array, ...]:
    """The coordinates of a grid: array `i` repeats vector `i` along all dimensions but the `i`-th.

    - `tensors`: vectors of one dtype, one after another or in one list. A 0-d array counts as
      `[1]`.
    - `indexing`: `"ij"`, which None means too, or `"xy"`, which exchanges the first two dimensions,
      so that the first vector runs along rows.

    Shapes: `[m], [n], ... -> [m, n, ...]` each; with `"xy"`, `[n, m, ...]`.
    Errors: RuntimeError for arrays of 2 or more dimensions and any other `indexing`, TypeError for
    unequal dtypes, ValueError without vectors.

    >>> x, y = functx.meshgrid(jnp.asarray([1, 2], "int32"), jnp.asarray([3, 4], "int32"))
    >>> x
    Array([[1, 1],
           [2, 2]], dtype=int32)
    """
    _check_several(tensors)
    for i, x in enumerate(tensors):
        if x.ndim > 1:
            refuse(f"`tensors[{i}]` must have at most 1 dimension, got {describe(x)}")
    if indexing not in (None, "ij", "xy"):
        refuse(f"`indexing` must be 'ij' or 'xy', got {indexing!r}")
    grids = _grid(tensors)
    if indexing == "xy" and len(grids) > 1:
        return tuple(jnp.swapaxes(x, 0, 1) for x in grids)
    return grids


@overload
def cartesian_prod(*tensors: ArrayLike) -> Array: ...
@overload
def cartesian_prod(tensors: Sequence[ArrayLike]) -> Array: ...
@operator(promote=Promote.SAME, other_signatures=listed_form, takes_storage_dtypes=True)
def cartesian_prod(tensors: Arrays) -> Array:
    """Every choice of one element from each vector, the last vector changing first.

    - `tensors`: vectors of one dtype, one after another or in one list.

    Shapes: `[m], [n], ... -> [m * n * ..., number of vectors]`; one vector alone stays `[m]`.
    Errors: RuntimeError for arrays that are not vectors, TypeError for unequal dtypes, ValueError
    without vectors.

    >>> functx.cartesian_prod(jnp.asarray([1, 2], "int32"), jnp.asarray([3, 4], "int32"))
    Array([[1, 3],
           [1, 4],
           [2, 3],
           [2, 4]], dtype=int32)
    """
    _check_several(tensors)
    for i, x in enumerate(tensors):
        if x.ndim != 1:
            refuse(f"`tensors[{i}]` must have 1 dimension, got {describe(x)}")
    if len(tensors) == 1:
        return tensors[0]
    columns = [lax.reshape(x, (x.size, 1)) for x in _grid(tensors)]
    return lax.concatenate(columns, 1)


@operator(promote=Promote.NO_OPMATH)
def combinations(input: ArrayLike, r: int = 2, with_replacement: bool = False) -> Array:
    r"""Every choice of `r` elements of a vector, in the order of the vector.

    - `input`: a vector of any dtype, which the result keeps.
    - `r`: how many elements a choice has. With 0 the result is empty, `[0]`, as in PyTorch.
    - `with_replacement`: whether a choice may hold an element several times.

    Shapes: $[n] \to [\binom{n}{r}, r]$; with replacement, $[\binom{n + r - 1}{r}, r]$.
    Errors: RuntimeError unless `input` is a vector and `r` at least 0, MemoryError for more choices
    than memory holds.

    >>> functx.combinations(jnp.asarray([1, 2, 3], "int32"))
    Array([[1, 2],
           [1, 3],
           [2, 3]], dtype=int32)
    """
    if input.ndim != 1:
        refuse(f"`input` must have 1 dimension, got {describe(input)}")
    if r < 0:
        refuse(f"`r` must not be negative, got {r}")
    if r == 0:
        return lax.slice_in_dim(input, 0, 0)
    if not known(input.size):
        return jnp.take(input, _rising_places(input.size, r, not with_replacement), mode="clip")
    there = input.size if not with_replacement else max(input.size + r - 1, 0)
    choices = math.comb(there, r)
    if not choices:
        return jnp.zeros((0, r), input.dtype)
    if choices * r > _MOST:
        refuse(f"{choices} choices of {r} are more than memory holds", error=MemoryError)
    return jnp.take(input, _rising(input.size, r, strictly=not with_replacement), mode="clip")


def _rising(n: int, r: int, *, strictly: bool) -> np.ndarray:
    """The rows of `r` rising positions below `n`, in lexicographic order."""
    columns: list[np.ndarray] = []
    least = np.zeros(1, int)
    for left in reversed(range(r)):  # positions that are still to follow
        counts = n - strictly * left - least
        behind = np.cumsum(counts) - counts
        within = np.arange(counts.sum()) - np.repeat(behind, counts)
        columns = [np.repeat(column, counts) for column in columns]
        columns.append(np.repeat(least, counts) + within)
        least = columns[-1] + strictly
    return np.stack(columns, 1)


def _rising_places(n: Size, r: int, strictly: bool) -> Array:
    """The rows of `r` rising positions below a symbolic `n`, among all choices of `r` of them."""
    # A product that has as many factors as the factorial, and is 0 where there is no choice.
    count = math.prod(n - i if strictly else n + i for i in range(r)) // math.factorial(r)
    places = [lax.broadcasted_iota(as_dtype(LONG), (n,) * r, d) for d in range(r)]
    rising = jnp.ones((n,) * r, bool)
    for left, right in itertools.pairwise(places):
        rising &= left < right if strictly else left <= right
    found = positions_where(rising.ravel(), core.max_dim(count, 0))
    return jnp.stack([place.ravel()[found] for place in places], 1)


def _grid(tensors: Sequence[Array]) -> tuple[Array, ...]:
    """Each vector broadcast along a dimension of its own."""
    shape = tuple(x.size for x in tensors)
    return tuple(
        lax.broadcast_in_dim(lax.reshape(x, (x.size,)), shape, (i,)) for i, x in enumerate(tensors)
    )


def _check_several(tensors: Any) -> None:
    """Refuses a call without arrays."""
    if not tensors:
        refuse("`tensors` must not be empty", error=ValueError)
