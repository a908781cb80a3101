"""Integrals of sampled functions, by the trapezoidal rule."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    as_dtype,
    Autocast,
    category,
    compute_and_result,
    describe,
    Dim,
    known,
    LONG,
    operator,
    Promote,
    refuse,
    result_dtype,
    UnpromotedArray,
)

from .scanning import running_sum


__all__ = ["cumulative_trapezoid", "trapezoid"]


# Integers are summed as integers, and the result is floating; hence `Promote.NONE`.
@operator(
    promote=Promote.NONE,
    accepts=Accepts.NUMBER,
    aliases=("trapz",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def trapezoid(
    y: ArrayOnly, x: ArrayOnly | None = None, *, dx: UnpromotedArray | None = None, dim: Dim = -1
) -> Array:
    r"""Integral of `y` along `dim` by the trapezoidal rule.

    This is $\sum_i (x_{i+1} - x_i) (y_i + y_{i+1}) / 2$.

    - `y`: samples of a function.
    - `x`: the places of the samples: a vector, or an array that broadcasts with `y` outside of
      `dim`.
    - `dx`: without `x`, the distance between samples, 1 by default.
    - `dim`: the dimension to integrate along, by default the last.

    Shapes: `[..., n, ...] -> [..., ...]`. Fewer than two samples give 0.
    Dtypes: the common dtype of `y` and `x`. Integers give the default dtype; their differences and
    sums are taken in int64 (PyTorch's overflow in narrower ones).
    Errors: RuntimeError where `x` is not as long as `y` along `dim`, TypeError for `x` with `dx`.

    >>> y = jnp.asarray([1.0, 2.0, 4.0], "float32")
    >>> functx.trapezoid(y)
    Array(4.5, dtype=float32)
    >>> functx.trapezoid(y, jnp.asarray([0, 1, 3], "int32"))
    Array(7.5, dtype=float32)
    """
    compute, result = _dtypes(y, x)
    x = _positions(y, x, dx, dim)
    n = y.shape[dim]
    if x is not None:
        total = _half(jnp.sum(_doubled_areas(y, x, compute, dim), axis=dim), compute)
    elif not known(n):
        total = _half(_doubled_sum(_wide(y, compute), dim), compute)
    elif n < 2:
        total = jnp.zeros([*y.shape[:dim], *y.shape[dim + 1 :]], compute)
    else:
        y = _wide(y, compute)
        inner = jnp.sum(lax.slice_in_dim(y, 1, n - 1, axis=dim), axis=dim)
        total = inner.astype(compute) + _half(_at(y, 0, dim) + _at(y, n - 1, dim), compute)
    return _spaced(total, dx).astype(result)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.NUMBER,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def cumulative_trapezoid(
    y: ArrayOnly, x: ArrayOnly | None = None, *, dx: UnpromotedArray | None = None, dim: Dim = -1
) -> Array:
    r"""Integrals of `y` along `dim` up to each sample but the first, by the trapezoidal rule.

    The integral up to sample $k$ is $\sum_{i < k} (x_{i+1} - x_i) (y_i + y_{i+1}) / 2$.

    - `y`: samples of a function.
    - `x`: the places of the samples: a vector, or an array that broadcasts with `y` outside of
      `dim`.
    - `dx`: without `x`, the distance between samples, 1 by default.
    - `dim`: the dimension to integrate along, by default the last.

    Shapes: `[..., n, ...] -> [..., n - 1, ...]`.
    Dtypes: the common dtype of `y` and `x`. Integers give the default dtype; their differences and
    sums are taken in int64 (PyTorch's overflow in narrower ones).
    Errors: RuntimeError where `x` is not as long as `y` along `dim`, TypeError for `x` with `dx`.

    >>> functx.cumulative_trapezoid(jnp.asarray([1.0, 2.0, 4.0], "float32"))
    Array([1.5, 4.5], dtype=float32)
    """
    compute, result = _dtypes(y, x)
    x = _positions(y, x, dx, dim)
    if x is None:
        y = _wide(y, compute)
        areas = _without_last(y, dim) + _without_first(y, dim)
    else:
        areas = _doubled_areas(y, x, compute, dim)
    return _spaced(running_sum(_half(areas, compute), dim), dx).astype(result)


def _dtypes(y: Array, x: Array | None) -> tuple[Any, Any]:
    common = result_dtype([y] if x is None else [y, x])
    return compute_and_result(Promote.INT_TO_FLOAT, common)


def _positions(y: Array, x: Array | None, dx: Any, dim: int) -> Array | None:
    """`x`, which fits `y`, with the rank of `y`."""
    if y.ndim == 0:
        refuse(f"`y` must have a dimension, got {describe(y)}", error=IndexError)
    if x is None:
        return None
    if dx is not None:
        refuse("`dx` must not be given beside `x`", error=TypeError)
    given = x
    if x.ndim == 1:
        x = lax.expand_dims(x, [d for d in range(y.ndim) if d != dim])
    elif x.ndim < y.ndim:
        x = lax.expand_dims(x, range(y.ndim - x.ndim))
    if x.ndim > y.ndim or x.shape[dim] != y.shape[dim]:
        refuse(
            f"`x` must hold a position for each of the {y.shape[dim]} samples along dimension "
            f"{dim} of {describe(y)}, got {describe(given)}"
        )
    return x


def _doubled_areas(y: Array, x: Array, compute: Any, dim: int) -> Array:
    x, y = _wide(x, compute), _wide(y, compute)
    widths = _without_first(x, dim) - _without_last(x, dim)
    sums = _without_first(y, dim) + _without_last(y, dim)
    if category(widths.dtype) == category(sums.dtype) == 1:
        return widths * sums
    return widths.astype(compute) * sums.astype(compute)


def _doubled_sum(y: Array, dim: int) -> Array:
    """Twice the sum, in which the first and the last element count half; 0 of one element."""
    place, last = lax.broadcasted_iota(as_dtype(LONG), y.shape, dim), y.shape[dim] - 1
    zero = np.zeros((), y.dtype)
    return jnp.sum(jnp.where(place > 0, y, zero) + jnp.where(place < last, y, zero), axis=dim)


def _wide(x: Array, compute: Any) -> Array:
    """`x` in the dtype of computation; integers in int64."""
    return x.astype(as_dtype(LONG) if category(x.dtype) == 1 else compute)


def _half(x: Array, compute: Any) -> Array:
    return x.astype(compute) * 0.5


def _spaced(x: Array, dx: Any) -> Array:
    if dx is None:
        return x
    dx = jnp.asarray(dx)
    if dx.ndim or category(dx.dtype) == 3:
        refuse(f"`dx` must be a real number or a 0-d array, got {describe(dx)}", error=TypeError)
    return x * lax.convert_element_type(dx, x.dtype)


def _at(x: Array, place: int, dim: int) -> Array:
    return lax.index_in_dim(x, place, dim, keepdims=False)


def _without_first(x: Array, dim: int) -> Array:
    return lax.slice_in_dim(x, min(1, x.shape[dim]), None, axis=dim)


def _without_last(x: Array, dim: int) -> Array:
    return lax.slice_in_dim(x, 0, max(x.shape[dim] - 1, 0), axis=dim)
