"""Many values into one place: sums, products, means and extrema of what is written there."""

from __future__ import annotations

from typing import Literal

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    accumulator,
    ArrayLike,
    category,
    Dim,
    highest,
    Index,
    lowest,
    operator,
    Promote,
    refuse,
)

from .addressing import (
    as_index,
    as_line,
    check_source,
    cropped,
    positions_inside,
    sum_into,
    write_along,
)
from .many_into_one import extremum_into, mean_into, product_into


__all__ = ["scatter_reduce"]


@operator(promote=Promote.NONE, requires=positions_inside)
def scatter_reduce(
    input: ArrayLike,
    dim: Dim,
    index: Index,
    src: ArrayLike,
    reduce: Literal["sum", "prod", "mean", "amax", "amin"],
    *,
    include_self: bool = True,
) -> Array:
    r"""Reduces what `src` brings to each place along `dim`.

    For `dim=0`, $y_{kj} = \mathrm{reduce}\,\{s_{ij} : \mathrm{index}_{ij} = k\}$.
    With `include_self` the element of `input` takes part; without it, it stays only where
    nothing was brought.

    Shapes, dtypes, errors: as for `scatter`. Halves are computed in float32; the mean of
    integers is rounded down.
    Gradients: products are exact at zeros, to every order; those that share an extremum share
    its gradient evenly. An `input` that takes no part has gradient 0.

    >>> functx.scatter_reduce(
    ...     jnp.ones(3, "float32"), 0, jnp.asarray([1, 1]), jnp.full(2, 3, "float32"), "prod"
    ... )
    Array([1., 9., 1.], dtype=float32)
    """
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        refuse(
            f"`reduce` must be 'sum', 'prod', 'mean', 'amax' or 'amin', got {reduce!r}",
            error=ValueError,
        )
    kind = category(input.dtype)
    if (kind == 0 and reduce == "mean") or (kind == 3 and reduce in ("amax", "amin")):
        refuse(f"`reduce` cannot be {reduce!r} for {input.dtype.name} arrays", error=TypeError)
    index = as_index(index)
    if index.size == 0:
        return input
    check_source(input, index, src, dim)
    wide = accumulator(input.dtype)
    x, index, src = as_line(input).astype(wide), as_line(index), cropped(src, index).astype(wide)
    own = 1
    if not include_self:
        reached = write_along(jnp.zeros(x.shape, bool), index, jnp.ones(index.shape, bool), dim)
        neutral = {"prod": 1, "amax": lowest(wide), "amin": highest(wide)}.get(reduce, 0)
        x = jnp.where(reached, jnp.asarray(neutral, wide), x)
        own = jnp.where(reached, 0, 1)
    if reduce == "sum":
        out = sum_into(x, index, src, dim)
    elif reduce == "prod":
        out = product_into(x, index, src, dim)
    elif reduce == "mean":
        out = mean_into(x, index, src, dim, own)
    else:
        out = extremum_into(
            x, index, src, dim, own, lax.scatter_max if reduce == "amax" else lax.scatter_min
        )
    return out.astype(input.dtype).reshape(input.shape)
