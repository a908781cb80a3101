"""Elements by their rank: medians, and elements of any rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, overload

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    available,
    category,
    decided,
    describe,
    Dim,
    LONG,
    lowest,
    operator,
    position_dtype,
    Promote,
    refuse,
)
from functx._core.numbers.bitwise_comparison import ordered_bits

from .emptiness import refuse_empty
from .ranks import count_nan, position_of_nanmedian, position_of_rank
from .ties import picked, shared_evenly, taken


__all__ = ["kthvalue", "median", "nanmedian"]


class MedianResult(NamedTuple):
    """The medians that `median` finds along a dimension, and their positions."""

    values: Array
    indices: Array


class NanmedianResult(NamedTuple):
    """The medians that `nanmedian` finds along a dimension, and their positions."""

    values: Array
    indices: Array


class KthvalueResult(NamedTuple):
    """The elements that `kthvalue` finds along a dimension, and their positions."""

    values: Array
    indices: Array


@overload
def median(input: ArrayLike) -> Array: ...
@overload
def median(input: ArrayLike, dim: Dim, keepdim: bool = False) -> MedianResult: ...
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL_NUMBER)
def median(input: ArrayLike, dim: Dim | None = None, keepdim: bool = False) -> Array | MedianResult:
    """Median of `input`; with `dim`, `(values, indices)` along it. NaN if there is a NaN.

    The median of an even number of elements is the smaller one in the middle; that of an empty
    array is NaN, or the least integer.

    - `dim`: one dimension; `None`, the default, stands for all.
    - `keepdim`: whether the reduced dimension stays with size 1.

    Shapes: `[...] -> []`, or `[..., n, ...] -> [..., ...]` twice.
    Dtypes: that of `input`; indices are int64.
    Ties: the index is where a stable sort has the median, which gets the gradient; without `dim`,
    equal elements share it evenly.
    Errors: IndexError if the dimension is empty, TypeError for bools and complex numbers.

    >>> functx.median(jnp.asarray([[4.0, 1.0, 3.0], [0.0, 2.0, 9.0]], "float32"), 1).values
    Array([3., 2.], dtype=float32)
    """
    if dim is None:
        if keepdim:
            refuse("`keepdim` goes with `dim`, got no `dim`", error=TypeError)
        return _of_all(jnp.ravel(input), _median_at)
    return MedianResult(*_along(input, dim, keepdim, _median_at))


@overload
def nanmedian(input: ArrayLike) -> Array: ...
@overload
def nanmedian(input: ArrayLike, dim: Dim, keepdim: bool = False) -> NanmedianResult: ...
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL_NUMBER)
def nanmedian(
    input: ArrayLike, dim: Dim | None = None, keepdim: bool = False
) -> Array | NanmedianResult:
    """Median of the elements of `input` that are not NaN; with `dim`, `(values, indices)` along it.

    The median of an even number of elements is the smaller one in the middle. It is NaN if all
    elements are.

    - `dim`: one dimension; `None`, the default, stands for all.
    - `keepdim`: whether the reduced dimension stays with size 1.

    Shapes: `[...] -> []`, or `[..., n, ...] -> [..., ...]` twice.
    Dtypes: that of `input`; indices are int64.
    Ties: the index is where a stable sort has the median, which gets the gradient; without `dim`,
    equal elements share it evenly.
    Errors: IndexError if the dimension is empty, TypeError for bools and complex numbers.

    >>> functx.nanmedian(jnp.asarray([jnp.nan, 4.0, 1.0, 3.0], "float32"))
    Array(3., dtype=float32)
    """
    if dim is None:
        if keepdim:
            refuse("`keepdim` goes with `dim`, got no `dim`", error=TypeError)
        return _of_all(jnp.ravel(input), position_of_nanmedian)
    return NanmedianResult(*_along(input, dim, keepdim, position_of_nanmedian))


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL_NUMBER)
def kthvalue(input: ArrayOnly, k: int, dim: Dim = -1, keepdim: bool = False) -> KthvalueResult:
    """The `k`-th smallest element of `input` along `dim`, counted from 1: `(values, indices)`.

    NaN counts as greater than every number.

    - `k`: the rank, from 1 to the size `n` of the dimension.
    - `dim`: one dimension, by default the last.
    - `keepdim`: whether the reduced dimension stays with size 1.

    Shapes: `[..., n, ...] -> [..., ...]` twice.
    Dtypes: that of `input`; indices are int64.
    Ties: the index is where a stable sort has the element, which gets the gradient.
    Errors: IndexError if the dimension is empty, ValueError if `k` does not lie in [1, n],
    TypeError for bools and complex numbers.

    >>> values, indices = functx.kthvalue(jnp.asarray([4.0, 1.0, 3.0], "float32"), 2)
    >>> values, indices.tolist()
    (Array(3., dtype=float32), 2)
    """
    n = input.shape[dim] if input.ndim else 1
    if n == 0:
        refuse_empty(input, dim)
    if k < 1 or decided(lambda: k > n, otherwise=False):
        refuse(
            f"`k` must lie in [1, {n}] along dimension {dim}, got {k} for {describe(input)}",
            error=ValueError,
        )

    def position(x: Array, dim: int) -> Array:
        keys = ordered_bits(lax.stop_gradient(x))
        kind = position_dtype(keys.shape[dim])
        rank = jnp.full_like(lax.slice_in_dim(keys, 0, 1, axis=dim), k - 1, kind)
        return position_of_rank(keys, rank, dim)

    return KthvalueResult(*_along(input, dim, keepdim, position))


def _along(
    input: Array, dim: int, keepdim: bool, position: Callable[[Array, int], Array]
) -> tuple[Array, Array]:
    if input.ndim == 0:
        return input, jnp.zeros((), available(LONG))
    if input.shape[dim] == 0:
        refuse_empty(input, dim)
    return picked(input, position(input, dim), dim, keepdim)


def _of_all(flat: Array, position: Callable[[Array, int], Array]) -> Array:
    if flat.size == 0:
        return jnp.full(
            (), jnp.nan if category(flat.dtype) == 2 else lowest(flat.dtype), flat.dtype
        )
    return shared_evenly(lambda x: taken(x, position(x, 0), 0)[0], (0,))(flat)


def _median_at(input: Array, dim: int) -> Array:
    """The index of the median, or of the first NaN, along `dim`, which stays with size 1."""
    keys = ordered_bits(lax.stop_gradient(input))
    count, nans = count_nan(keys, input.dtype, dim)
    middle = (count - 1) // 2
    return position_of_rank(keys, jnp.where(nans > 0, count - nans, middle), dim)
