"""The greatest and least elements, and their positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    Dim,
    Dims,
    operator,
    Promote,
    refuse,
)
from functx._core.numbers.bitwise_comparison import greatest, least
from functx._ops.extremes import larger, smaller

from .extreme_elements import extremum, placed, position
from .ties import picked


__all__ = ["amax", "amin", "aminmax", "argmax", "argmin", "max", "min"]


class AminmaxResult(NamedTuple):
    """The least and the greatest elements that `aminmax` finds."""

    min: Array
    max: Array


class MaxResult(NamedTuple):
    """The greatest elements that `max` finds along a dimension, and their positions."""

    values: Array
    indices: Array


class MinResult(NamedTuple):
    """The least elements that `min` finds along a dimension, and their positions."""

    values: Array
    indices: Array


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL)
def amax(input: ArrayLike, dim: Dims = None, keepdim: bool = False) -> Array:
    """Greatest element of `input` over `dim`. NaN counts as the greatest.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `keepdim`: whether reduced dimensions stay with size 1.

    Shapes: `[..., n, ...] -> [..., ...]`. Dtypes: that of `input`, real.
    Ties: equal elements share the gradient evenly, and so do NaN (for which PyTorch's is NaN).
    Errors: IndexError if a dimension in `dim` is empty, RuntimeError if the array is; TypeError for
    complex numbers.

    >>> functx.amax(jnp.asarray([[1.0, 5.0], [3.0, 2.0]], "float32"), (0,))
    Array([3., 5.], dtype=float32)
    """
    return extremum(greatest, input, dim, keepdim)


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL)
def amin(input: ArrayLike, dim: Dims = None, keepdim: bool = False) -> Array:
    """Least element of `input` over `dim`. NaN counts as the least.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `keepdim`: whether reduced dimensions stay with size 1.

    Shapes: `[..., n, ...] -> [..., ...]`. Dtypes: that of `input`, real.
    Ties: equal elements share the gradient evenly, and so do NaN (for which PyTorch's is NaN).
    Errors: IndexError if a dimension in `dim` is empty, RuntimeError if the array is; TypeError for
    complex numbers.

    >>> functx.amin(jnp.asarray([[1.0, 5.0], [3.0, 2.0]], "float32"), 1)
    Array([1., 2.], dtype=float32)
    """
    return extremum(least, input, dim, keepdim)


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL)
def aminmax(input: ArrayLike, *, dim: Dim | None = None, keepdim: bool = False) -> AminmaxResult:
    """Least and greatest element of `input` along `dim`: `(min, max)`.

    If there is NaN, both are NaN.

    - `dim`: one dimension; `None` stands for all.
    - `keepdim`: whether reduced dimensions stay with size 1.

    Shapes: `[..., n, ...] -> [..., ...]` twice. Dtypes: that of `input`, real.
    Ties: equal elements share the gradient evenly, and so do NaN (for which PyTorch's is NaN).
    Errors: IndexError if the dimension is empty, RuntimeError if the array is; TypeError for
    complex numbers.

    >>> print(functx.aminmax(jnp.asarray([3, 1, 2])).max)
    3
    """
    dims = None if dim is None or input.ndim == 0 else (dim,)
    low, high = (extremum(reduce, input, dims, keepdim) for reduce in (least, greatest))
    return AminmaxResult(low, high)


def _two_arrays(args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """Tells `max(input, other)` from `max(input, dim)`."""
    if len(args) == 2 and isinstance(args[1], (jax.Array, np.ndarray)):
        args, kwargs = args[:1], kwargs | {"other": args[1]}
    return args, kwargs


@overload
def max(input: ArrayLike) -> Array: ...
@overload
def max(input: ArrayLike, dim: Dim, keepdim: bool = False) -> MaxResult: ...
@overload
def max(input: ArrayLike, other: ArrayLike) -> Array: ...
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL, other_signatures=_two_arrays)
def max(
    input: ArrayOnly,
    dim: Dim | None = None,
    keepdim: bool = False,
    *,
    other: ArrayLike | None = None,
) -> Array | MaxResult:
    """Greatest element of `input`; with `dim`, `(values, indices)` along it.

    NaN counts as the greatest.

    - `dim`: one dimension; `None`, the default, stands for all.
    - `keepdim`: whether the reduced dimension stays with size 1.
    - `other`: an array; `max(input, other)` is elementwise and broadcasts, as `functx.maximum`
      does.

    Shapes: `[...] -> []`, or `[..., n, ...] -> [..., ...]` twice.
    Dtypes: that of `input`, real; indices are int64.
    Ties: the index is that of the first, which gets the gradient; without `dim`, equal elements
    share it evenly; between two arrays, each gets half.
    Errors: IndexError if the dimension is empty, RuntimeError if the array is; TypeError for
    complex numbers.

    >>> functx.max(jnp.asarray([[1.0, 5.0], [3.0, 2.0]], "float32"), 1).values
    Array([5., 3.], dtype=float32)
    """
    if other is not None:
        return _between(larger, input, other, dim, keepdim)
    if dim is None:
        return _of_all(greatest, input, keepdim)
    return MaxResult(*_along(greatest, input, dim, keepdim))


@overload
def min(input: ArrayLike) -> Array: ...
@overload
def min(input: ArrayLike, dim: Dim, keepdim: bool = False) -> MinResult: ...
@overload
def min(input: ArrayLike, other: ArrayLike) -> Array: ...
@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL, other_signatures=_two_arrays)
def min(
    input: ArrayOnly,
    dim: Dim | None = None,
    keepdim: bool = False,
    *,
    other: ArrayLike | None = None,
) -> Array | MinResult:
    """Least element of `input`; with `dim`, `(values, indices)` along it.

    NaN counts as the least.

    - `dim`: one dimension; `None`, the default, stands for all.
    - `keepdim`: whether the reduced dimension stays with size 1.
    - `other`: an array; `min(input, other)` is elementwise and broadcasts, as `functx.minimum`
      does.

    Shapes: `[...] -> []`, or `[..., n, ...] -> [..., ...]` twice.
    Dtypes: that of `input`, real; indices are int64.
    Ties: the index is that of the first, which gets the gradient; without `dim`, equal elements
    share it evenly; between two arrays, each gets half.
    Errors: IndexError if the dimension is empty, RuntimeError if the array is; TypeError for
    complex numbers.

    >>> functx.min(jnp.asarray([[1.0, 5.0], [3.0, 2.0]], "float32"), 1).values
    Array([1., 2.], dtype=float32)
    """
    if other is not None:
        return _between(smaller, input, other, dim, keepdim)
    if dim is None:
        return _of_all(least, input, keepdim)
    return MinResult(*_along(least, input, dim, keepdim))


@operator(promote=Promote.NONE, accepts=Accepts.REAL_NUMBER, differentiable=False)
def argmax(input: ArrayLike, dim: Dim | None = None, keepdim: bool = False) -> Array:
    """Position of the greatest element of `input` along `dim`: the first of several.

    NaN counts as the greatest.

    - `dim`: one dimension; `None` stands for the flattened array.
    - `keepdim`: whether the reduced dimension stays with size 1.

    Shapes: `[..., n, ...] -> [..., ...]`. Dtypes: int64.
    Errors: IndexError if there is no element, TypeError for bools and complex numbers.

    >>> print(functx.argmax(jnp.asarray([[1, 5], [3, 2]]), dim=1))
    [1 0]
    """
    return placed(position(greatest, input, dim), input.ndim, dim, keepdim)


@operator(promote=Promote.NONE, accepts=Accepts.REAL_NUMBER, differentiable=False)
def argmin(input: ArrayLike, dim: Dim | None = None, keepdim: bool = False) -> Array:
    """Position of the least element of `input` along `dim`: the first of several.

    NaN counts as the least.

    - `dim`: one dimension; `None` stands for the flattened array.
    - `keepdim`: whether the reduced dimension stays with size 1.

    Shapes: `[..., n, ...] -> [..., ...]`. Dtypes: int64.
    Errors: IndexError if there is no element, TypeError for bools and complex numbers.

    >>> print(functx.argmin(jnp.asarray([[1, 5], [3, 2]]), dim=1))
    [0 1]
    """
    return placed(position(least, input, dim), input.ndim, dim, keepdim)


def _of_all(reduce: Callable[..., Array], input: Array, keepdim: bool) -> Array:
    if keepdim:
        refuse("`keepdim` goes with `dim`, got no `dim`", error=TypeError)
    return extremum(reduce, input, None, False)


def _along(
    reduce: Callable[..., Array], input: Array, dim: int, keepdim: bool
) -> tuple[Array, Array]:
    index = position(reduce, input, dim)
    return picked(input, index, dim, keepdim) if input.ndim else (input, index)


def _between(
    pick: Callable[..., Array], input: Array, other: Array, dim: int | None, keepdim: bool
) -> Array:
    if dim is not None or keepdim:
        refuse("`dim` and `keepdim` do not go with `other`", error=TypeError)
    return pick(*jnp.broadcast_arrays(input, other))
