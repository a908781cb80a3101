"""Quantiles: numbers below which given shares of all elements lie."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    as_scalar,
    Autocast,
    category,
    describe,
    Dim,
    is_number,
    is_probability,
    operator,
    Promote,
    refuse,
    Requirement,
    UnpromotedArray,
)
from functx._core.numbers.bitwise_comparison import equal, greatest_key, ordered_bits, same
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.sorting.orders import stable_order


__all__ = ["nanquantile", "quantile"]

_NAMES = ("linear", "lower", "higher", "midpoint", "nearest")


def _probabilities(*, q: Any, **_: Any) -> Iterator[Requirement]:
    if category(q.dtype) < 3:
        yield is_probability(q, "q")


@operator(
    promote=Promote.NONE,
    accepts=Accepts.LAPACK_REAL,
    requires=_probabilities,
    autocast_cpu=Autocast.FLOAT32,
)
def quantile(
    input: ArrayOnly,
    q: UnpromotedArray,
    dim: Dim | None = None,
    keepdim: bool = False,
    *,
    interpolation: Literal["linear", "lower", "higher", "midpoint", "nearest"] = "linear",
) -> Array:
    r"""Quantile of `input` along `dim`: the number below which the share `q` of the elements lies.

    In order, the elements have ranks from 0 to $n - 1$, and the quantile has the rank
    $r = q (n - 1)$. NaN anywhere gives NaN.

    - `q`: a share in [0, 1], a number, or several in a vector of the dtype of `input`.
    - `dim`: one dimension; `None` stands for all.
    - `keepdim`: whether the reduced dimension stays with size 1.
    - `interpolation`: the choice between the elements $a$ and $b$ next to a rank that is no
      integer: `"linear"`, the default, is $a + (r - \lfloor r \rfloor) (b - a)$, `"midpoint"`
      $(a + b) / 2$, `"lower"` $a$, `"higher"` $b$, and `"nearest"` the nearer one, or of two the
      one with an even rank.

    Shapes: `[..., n, ...] -> [..., ...]`; for `q` of shape `[k]` with `k` in front.
    Dtypes: that of `input`, float32 or float64.
    Gradients: those of the elements, where equal ones are ranked by a stable sort, and of `q`.
    Errors: RuntimeError if `q` does not lie in [0, 1], or `input` is empty; TypeError for other
    dtypes.

    >>> functx.quantile(jnp.asarray([1.0, 2.0, 4.0], "float32"), 0.75)
    Array(3., dtype=float32)
    """
    return _quantile(input, q, dim, keepdim, interpolation, omit=False)


@operator(
    promote=Promote.NONE,
    accepts=Accepts.LAPACK_REAL,
    requires=_probabilities,
    autocast_cpu=Autocast.FLOAT32,
)
def nanquantile(
    input: ArrayOnly,
    q: UnpromotedArray,
    dim: Dim | None = None,
    keepdim: bool = False,
    *,
    interpolation: Literal["linear", "lower", "higher", "midpoint", "nearest"] = "linear",
) -> Array:
    r"""Quantile of the elements of `input` along `dim` that are not NaN; NaN if all are.

    In order, the elements have ranks from 0 to $n - 1$, and the quantile has the rank
    $r = q (n - 1)$.

    - `q`: a share in [0, 1], a number, or several in a vector of the dtype of `input`.
    - `dim`: one dimension; `None` stands for all.
    - `keepdim`: whether the reduced dimension stays with size 1.
    - `interpolation`: the choice between the elements $a$ and $b$ next to a rank that is no
      integer: `"linear"`, the default, is $a + (r - \lfloor r \rfloor) (b - a)$, `"midpoint"`
      $(a + b) / 2$, `"lower"` $a$, `"higher"` $b$, and `"nearest"` the nearer one, or of two the
      one with an even rank.

    Shapes: `[..., n, ...] -> [..., ...]`; for `q` of shape `[k]` with `k` in front.
    Dtypes: that of `input`, float32 or float64.
    Gradients: those of the elements, where equal ones are ranked by a stable sort, and of `q`.
    Errors: RuntimeError if `q` does not lie in [0, 1], or `input` is empty; TypeError for other
    dtypes.

    >>> functx.nanquantile(jnp.asarray([1.0, jnp.nan, 2.0], "float32"), 0.5)
    Array(1.5, dtype=float32)
    """
    return _quantile(input, q, dim, keepdim, interpolation, omit=True)


def _quantile(
    input: Array, q: Any, dim: int | None, keepdim: bool, interpolation: str, *, omit: bool
) -> Array:
    if interpolation not in _NAMES:
        names = ", ".join(map(repr, _NAMES))
        refuse(f"`interpolation` must be one of {names}, got {interpolation!r}", error=ValueError)
    if input.size == 0:
        refuse(f"`input` must not be empty, got {describe(input)}")
    q = _checked(jnp.asarray(q), input)
    shape = (1,) * input.ndim if dim is None else _with_size(input.shape, dim, 1)
    kept = shape if keepdim else () if dim is None else input.shape[:dim] + input.shape[dim + 1 :]
    rows = input.reshape(1, -1) if dim is None or input.ndim == 0 else jnp.moveaxis(input, dim, -1)
    rows = rows.reshape(-1, rows.shape[-1])
    found = _of_rows(rows, q.reshape(-1), interpolation, omit)
    return found.reshape(*q.shape, *kept)


def _checked(q: Array, input: Array) -> Array:
    if category(q.dtype) == 3 or not (is_number(q) or q.dtype == input.dtype):
        refuse(
            f"`q` must be a real number or have the dtype of `input`, got {describe(q)} for "
            f"{describe(input)}",
            error=TypeError,
        )
    if q.ndim > 1:
        refuse(f"`q` must have at most 1 dimension, got {describe(q)}")
    return lax.convert_element_type(q, input.dtype)


def _with_size(shape: tuple[int, ...], dim: int, size: int) -> tuple[int, ...]:
    return shape if not shape else (*shape[:dim], size, *shape[dim + 1 :])


def _of_rows(rows: Array, q: Array, interpolation: str, omit: bool) -> Array:
    """The quantiles `q` of each row, `[m, n], [k] -> [k, m]`."""
    order = stable_order(lax.stop_gradient(rows), 1)
    rank = _ranks(rows, lax.expand_dims(q, [1]), omit)
    low = jnp.floor(rank)
    if interpolation == "lower":
        return _ranked(rows, order, low)
    if interpolation == "higher":
        return _ranked(rows, order, jnp.ceil(rank))
    if interpolation == "nearest":
        return _ranked(rows, order, lax.round(rank, lax.RoundingMethod.TO_NEAREST_EVEN))
    weight = jnp.full_like(rank, 0.5) if interpolation == "midpoint" else rank - low
    below, above = _ranked(rows, order, low), _ranked(rows, order, jnp.ceil(rank))
    return _between(below, above, weight)


def _ranks(rows: Array, q: Array, omit: bool) -> Array:
    """The rank of each quantile `[k, 1]` in each row, `[k, m]`; NaN come last in a row."""
    keys = ordered_bits(lax.stop_gradient(rows))
    nans = jnp.sum(keys == greatest_key(keys.dtype), 1, dtype=np.int32)[None]
    last = rows.shape[1] - 1
    if omit:
        rank = q * (as_scalar(last, np.int32) - nans).astype(q.dtype)
        return jnp.where(rank < 0, 0, rank)
    return jnp.where(nans > 0, last, q * last).astype(q.dtype)


def _ranked(rows: Array, order: Array, rank: Array) -> Array:
    """The elements that have these ranks, `[k, m]`."""
    at = jnp.minimum(lax.stop_gradient(rank).astype(order.dtype), rows.shape[1] - 1).T
    index = jnp.take_along_axis(order, at, 1, mode="promise_in_bounds")
    return jnp.take_along_axis(rows, index, 1, mode="promise_in_bounds").T


def _interpolated(below: Array, above: Array, weight: Array) -> Array:
    gap = above - below
    near = jnp.where(weight < 0.5, below + weight * gap, above - gap * (1 - weight))
    far = jnp.where(equal(below, above), below, (1 - weight) * below + weight * above)
    return jnp.where(jnp.isfinite(gap), near, far)


def _tangent(primals: tuple, output: Array, tangents: tuple) -> Array:
    below, above, weight = primals
    constant = same(below, above) & ~jnp.isfinite(below)
    gap = jnp.where(constant, 0, above - below)
    return (1 - weight) * tangents[0] + weight * tangents[1] + gap * tangents[2]


_between = derivative_rules(_interpolated, jvp=_tangent, name="lerp")
