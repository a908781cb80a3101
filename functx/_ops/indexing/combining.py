"""Many values combined in one place: sums, products, means and extrema of what is written there."""

from __future__ import annotations

from typing import Literal

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    ArrayOnly,
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
    as_vector,
    check_same_dtype,
    check_source,
    cropped,
    positions_inside,
    slices_to_write,
    sum_into,
    write_along,
)
from .many_into_one import extremum_into, mean_into, product_into


__all__ = ["index_reduce", "scatter_reduce"]


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
    r"""A copy of `input` in which the elements of `src` are reduced into places along `dim`.

    For `dim=0`, $y_{kj} = \mathrm{reduce}\,\{s_{ij} : \mathrm{index}_{ij} = k\}$.

    - `input`: an array of any dtype, which the result keeps.
    - `dim`: the dimension along which `index` counts.
    - `index`: positions, int32 or int64.
    - `src`: an array of the dtype of `input`.
    - `reduce`: `"sum"`, `"prod"`, `"mean"`, `"amax"` or `"amin"`. Halves are computed in float32;
      the mean of integers is rounded down.
    - `include_self`: whether the element of `input` takes part. If not, it stays only where `src`
      brings nothing.

    Shapes: `input`, `index` and `src` have one rank; `index` is no larger than `src`, nor than
    `input` except along `dim`. The result has the shape of `input`.
    Gradients: exact for products at zeros, to every order; elements that share an extremum share
    its gradient evenly. An element of `input` that takes no part has gradient 0.
    Errors: IndexError for an index outside of `[0, n)` (under `jit`, such an element is dropped),
    RuntimeError for shapes that do not fit, TypeError for unequal dtypes, the mean of bools and
    extrema of complex numbers, ValueError for another `reduce`.

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
    index, src = as_line(index), cropped(src, index)
    return _reduced(input, dim, index, src, reduce, include_self)


@operator(promote=Promote.NONE, accepts=Accepts.REAL_NUMBER, requires=positions_inside)
def index_reduce(
    input: ArrayOnly,
    dim: Dim,
    index: Index,
    source: ArrayOnly,
    reduce: Literal["prod", "mean", "amax", "amin"],
    *,
    include_self: bool = True,
) -> Array:
    r"""A copy of `input` in which slices of `source` are reduced into positions along `dim`.

    For `dim=0`, $y_{kj} = \mathrm{reduce}\,\{s_{ij} : \mathrm{index}_i = k\}$.

    - `input`: an array of a real dtype but bool, which the result keeps.
    - `dim`: the dimension along which `index` counts.
    - `index`: a vector of positions, int32 or int64.
    - `source`: an array of the dtype of `input`.
    - `reduce`: `"prod"`, `"mean"`, `"amax"` or `"amin"`. Halves are computed in float32; the mean
      of integers is rounded down.
    - `include_self`: whether the element of `input` takes part. If not, it stays only where
      `source` brings nothing.

    Shapes: `[..., n, ...], [m], [..., m, ...] -> [..., n, ...]` for `input`, `index` and `source`.
    Gradients: exact for products at zeros, to every order; elements that share an extremum share
    its gradient evenly. An element of `input` that takes no part has gradient 0.
    Errors: IndexError for an index outside of `[0, n)` (under `jit`, such a slice is dropped) or of
    several dimensions, RuntimeError for shapes that do not fit and another `reduce`, TypeError for
    unequal dtypes.

    >>> x, source = jnp.ones((2, 2), "float32"), jnp.asarray([[2.0, 3.0], [4.0, 5.0]], "float32")
    >>> functx.index_reduce(x, 0, jnp.asarray([1, 1]), source, "prod")
    Array([[ 1.,  1.],
           [ 8., 15.]], dtype=float32)
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        refuse(f"`reduce` must be 'prod', 'mean', 'amax' or 'amin', got {reduce!r}")
    index = as_vector(index)
    check_same_dtype(input, source, "source")
    if source.ndim != input.ndim:
        refuse(f"`source` must be {input.ndim}-d, as `input` is, got {source.ndim}-d")
    slices = slices_to_write(input, dim, index, source, "source")
    if index.size == 0:
        return input
    return _reduced(input, dim, index, slices, reduce, include_self)


def _reduced(
    input: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool
) -> Array:
    wide = accumulator(input.dtype)
    x, src = as_line(input).astype(wide), src.astype(wide)
    own = 1
    if not include_self:
        reached = _reached(x.shape, index, dim)
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


def _reached(shape: tuple[int, ...], index: Array, dim: int) -> Array:
    """A mask of the places to which `index` brings something, slices with one element each."""
    ones = jnp.ones(index.shape, bool)
    if index.ndim == len(shape):
        return write_along(jnp.zeros(shape, bool), index, ones, dim)
    line = write_along(jnp.zeros(shape[dim], bool), index, ones, 0)
    return jnp.expand_dims(line, [d for d in range(len(shape)) if d != dim])
