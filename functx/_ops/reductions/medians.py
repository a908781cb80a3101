"""Elements by their rank: the one in the middle, and the one in any place."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, overload

import jax.numpy as jnp
import numpy as np
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
    Promote,
    refuse,
)
from functx._core.numbers.bitwise_comparison import ordered_bits

from .emptiness import refuse_empty
from .ranks import count_nan, position_of_nanmedian, position_of_rank
from .ties import picked, shared_evenly, taken


__all__ = ["kthvalue", "median", "nanmedian"]


class MedianResult(NamedTuple):
    """What `median` over one dimension gives."""

    values: Array
    indices: Array


class NanmedianResult(NamedTuple):
    """What `nanmedian` over one dimension gives."""

    values: Array
    indices: Array


class KthvalueResult(NamedTuple):
    """What `kthvalue` gives."""

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
    """The middle one of the elements that are no NaN; NaN if all are.

    Otherwise as `functx.median`: of an even number it is the smaller of the two, and with `dim`
    the result is `(values, indices)`.

    Shapes: `[...] -> []`, or `[..., n, ...] -> [..., ...]` twice; with `keepdim`, `n` becomes 1.
    Dtypes: indices are int64.
    Ties: the index is where a stable sort has it, and it gets the gradient; without `dim`, equal
    elements share it evenly.
    Errors: IndexError if the dimension is empty.

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
    """The `k`-th smallest element along `dim`, counted from 1: `(values, indices)`.

    NaN counts as greater than every number.

    Shapes: `[..., n, ...] -> [..., ...]` twice; with `keepdim`, `n` becomes 1.
    Dtypes: indices are int64.
    Ties: the index is where a stable sort has it, and it gets the gradient.
    Errors: IndexError if the dimension is empty, ValueError if `k` does not lie in [1, n].

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
        rank = jnp.full_like(lax.slice_in_dim(keys, 0, 1, axis=dim), 0, "int32")
        return position_of_rank(keys, rank + np.int32(k - 1), dim)

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
    """The index of the median along `dim`, which stays with size 1; of the first NaN, if any."""
    keys = ordered_bits(lax.stop_gradient(input))
    count, nans = count_nan(keys, input.dtype, dim)
    middle = (count - 1) // 2
    return position_of_rank(keys, jnp.where(nans > 0, count - nans, middle), dim)
