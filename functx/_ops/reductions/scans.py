"""Running sums, products and maxima, and differences along a dimension."""

from __future__ import annotations

import functools as ft
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, core, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    available,
    canonical_dim,
    category,
    describe,
    Dim,
    DType,
    known,
    LONG,
    operator,
    Promote,
    refuse,
    result_dtype,
    rounded_first,
)
from functx._core.numbers.bitwise_comparison import ordered_bits

from .scanning import last_greatest, running_choice, running_product, running_sum, scanned
from .totals import refuse_bools


__all__ = ["cummax", "cummin", "cumprod", "cumsum", "diff"]


class CummaxResult(NamedTuple):
    """The running maxima that `cummax` finds, and their positions."""

    values: Array
    indices: Array


class CumminResult(NamedTuple):
    """The running minima that `cummin` finds, and their positions."""

    values: Array
    indices: Array


@operator(promote=Promote.INT_TO_LONG, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def cumsum(input: ArrayLike, dim: Dim, *, dtype: DType | None = None) -> Array:
    r"""Running sum of `input` along `dim`: $y_i = \sum_{j \le i} x_j$.

    - `dim`: the dimension along which the sum runs.
    - `dtype`: the dtype to which `input` is cast first; `None` keeps that of `input`.

    Shapes: that of `input`. Dtypes: bools and integers give int64, unless `dtype` is given.

    >>> functx.cumsum(jnp.asarray([1.0, 2.0, 3.0], "float32"), 0)
    Array([1., 3., 6.], dtype=float32)
    """
    refuse_bools(input)
    return scanned(running_sum, rounded_first(input, dtype), dim)


@operator(promote=Promote.INT_TO_LONG, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def cumprod(input: ArrayLike, dim: Dim, *, dtype: DType | None = None) -> Array:
    r"""Running product of `input` along `dim`: $y_i = \prod_{j \le i} x_j$.

    - `dim`: the dimension along which the product runs.
    - `dtype`: the dtype to which `input` is cast first; `None` keeps that of `input`.

    Shapes: that of `input`. Dtypes: bools and integers give int64, unless `dtype` is given.
    Derivatives: they divide by no element, so zeros are no exception.

    >>> functx.cumprod(jnp.asarray([1.0, 2.0, 3.0], "float32"), 0)
    Array([1., 2., 6.], dtype=float32)
    """
    refuse_bools(input)
    return scanned(running_product, rounded_first(input, dtype), dim)


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL)
def cummax(input: ArrayLike, dim: Dim) -> CummaxResult:
    """Running maximum of `input` along `dim`: `(values, indices)`. A NaN stays the maximum.

    - `dim`: the dimension along which the maximum runs.

    Shapes: both results have the shape of `input`. Dtypes: indices are int64. Errors: TypeError for
    complex numbers.
    Ties: the index is that of the last one so far, which gets the gradient.

    >>> functx.cummax(jnp.asarray([1.0, 3.0, 2.0], "float32"), 0).values
    Array([1., 3., 3.], dtype=float32)
    """
    return CummaxResult(*_running_extreme(input, ordered_bits(lax.stop_gradient(input)), dim))


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL)
def cummin(input: ArrayLike, dim: Dim) -> CumminResult:
    """Running minimum of `input` along `dim`: `(values, indices)`. A NaN stays the minimum.

    - `dim`: the dimension along which the minimum runs.

    Shapes: both results have the shape of `input`. Dtypes: indices are int64. Errors: TypeError for
    complex numbers.
    Ties: the index is that of the last one so far, which gets the gradient.

    >>> functx.cummin(jnp.asarray([2.0, 3.0, 1.0], "float32"), 0).values
    Array([2., 2., 1.], dtype=float32)
    """
    # The complement of an integer reverses the order; its negative may overflow.
    keys = ~ordered_bits(lax.stop_gradient(input), nan_least=True)
    return CumminResult(*_running_extreme(input, keys, dim))


@operator(promote=Promote.NONE)
def diff(
    input: ArrayLike,
    n: int = 1,
    dim: Dim = -1,
    prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> Array:
    """Differences of neighbours in `input` along `dim`: $y_i = x_{i+1} - x_i$, `n` times over.

    - `n`: how often to take differences, 1 by default; 0 gives `input`.
    - `dim`: the dimension along which neighbours lie, by default the last.
    - `prepend`, `append`: arrays that are joined to `input` first, unless `n` is 0; their shapes
      may differ from that of `input` in `dim` only.

    The difference of bools is `xor`.

    Shapes: `[..., m, ...] -> [..., max(m - n, 0), ...]`.
    Dtypes: the common dtype of all arrays; if `n` is 0, that of `input`.
    Errors: RuntimeError for a 0-d `input`, a negative `n`, or shapes that cannot be joined.

    >>> functx.diff(jnp.asarray([1.0, 4.0, 9.0], "float32"), append=jnp.zeros(1, "float32"))
    Array([ 3.,  5., -9.], dtype=float32)
    """
    if input.ndim == 0:
        refuse(f"`input` must have a dimension, got {describe(input)}")
    if n < 0:
        refuse(f"`n` must not be negative, got {n}")
    dim = canonical_dim(dim, input.ndim)
    for name, extra in (("prepend", prepend), ("append", append)):
        if extra is not None:
            _refuse_misfit(name, extra, input, dim)
    if n == 0:
        return input
    parts = [part for part in (prepend, input, append) if part is not None]
    common = result_dtype(parts)
    parts = [part.astype(common) for part in parts]
    out = jnp.concatenate(parts, axis=dim) if len(parts) > 1 else input
    size = out.shape[dim]
    if not known(size):
        return ft.reduce(lambda x, _: _difference(x, dim), range(n), out)
    for left in range(size, max(size - n, 0), -1):
        later = lax.slice_in_dim(out, 1, left, axis=dim)
        earlier = lax.slice_in_dim(out, 0, left - 1, axis=dim)
        out = later ^ earlier if category(out.dtype) == 0 else later - earlier
    return out


def _difference(x: Array, dim: int) -> Array:
    """The first difference along `dim`, also for a symbolic size, which may be 0.

    A slice must be known to lie inside; padding need not.
    """
    n = x.shape[dim]
    padded = lambda low, high: [(low, high, 0) if d == dim else (0, 0, 0) for d in range(x.ndim)]
    zero = np.zeros((), x.dtype)
    later = lax.pad(x, zero, padded(-1, 1))
    out = later ^ x if category(x.dtype) == 0 else later - x
    return lax.pad(out, zero, padded(0, core.max_dim(n - 1, 0) - n))


def _running_extreme(input: Array, keys: Array, dim: int) -> tuple[Array, Array]:
    """The elements with the greatest of `keys` so far, and their positions."""
    if input.ndim == 0 or (known(input.shape[dim]) and not input.shape[dim]):
        return input, jnp.zeros(input.shape, available(LONG))
    indices = last_greatest(keys, dim)
    return running_choice(input, indices, dim), indices.astype(available(LONG))


def _refuse_misfit(name: str, extra: Array, input: Array, dim: int) -> None:
    rest = lambda x: x.shape[:dim] + x.shape[dim + 1 :]
    if extra.ndim != input.ndim or rest(extra) != rest(input):
        refuse(
            f"`{name}` must have the shape of {describe(input)} outside of dimension {dim}, "
            f"got {describe(extra)}"
        )
