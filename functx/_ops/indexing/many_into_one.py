"""Products, extrema and means of many values that are written to one place.

`index` has the rank of `x` and names elements along `dim`, or it is a vector and names slices.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import as_dtype, as_number, category, known, LONG
from functx._core.numbers.bitwise_comparison import equal, from_keys, invertible_keys
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.reductions.scanning import running

from .addressing import (
    add_slices,
    read_along,
    read_slices,
    sum_into,
    write_along,
    write_slices,
)


def _write(x: Array, index: Array, src: Array, dim: int, write: Callable[..., Array]) -> Array:
    into = write_along if index.ndim == x.ndim else write_slices
    return into(x, index, src, dim, write)


def _read(x: Array, index: Array, dim: int) -> Array:
    return (read_along if index.ndim == x.ndim else read_slices)(x, index, dim)


def _add(x: Array, index: Array, src: Array, dim: int) -> Array:
    return (sum_into if index.ndim == x.ndim else add_slices)(x, index, src, dim)


def product_into(x: Array, index: Array, src: Array, dim: int) -> Array:
    """`x` with the factors in `src` multiplied into it; bools are joined by "and"."""
    if category(x.dtype) == 0:
        return _write(x, index, src, dim, lax.scatter_min)
    if category(x.dtype) == 1:
        return _write(x, index, src, dim, lax.scatter_mul)

    def product(x, index, src):
        return _write(x, index, src, dim, lax.scatter_mul)

    def tangent(primals, output, tangents):
        x, index, src = primals
        scan = ft.partial(_product_by_scan, index=index, dim=dim)
        return jax.jvp(lambda x, src: scan(x, src=src), (x, src), (tangents[0], tangents[2]))[1]

    return derivative_rules(product, jvp=tangent)(x, index, src)


def _product_by_scan(x: Array, index: Array, src: Array, dim: int) -> Array:
    """The product of `product_into` without division, so that every derivative is right at zeros.

    Factors are ordered by the places they go to, and multiplied by a scan that starts anew at each
    place.
    """
    if index.ndim < x.ndim:
        index = lax.broadcast_in_dim(index, src.shape, [dim])
    missing = [(0, 0 if d == dim else x.shape[d] - index.shape[d], 0) for d in range(x.ndim)]
    n = x.shape[dim]
    index = lax.pad(index, jnp.asarray(as_number(n, index.dtype), index.dtype), missing)
    src = lax.pad(src, jnp.ones((), src.dtype), missing)
    target = jnp.concatenate([lax.broadcasted_iota(index.dtype, x.shape, dim), index], dim)
    target = jnp.where(target < 0, n, target)
    order = jnp.argsort(target, axis=dim, stable=True)
    target = read_along(target, order, dim)
    factors = read_along(jnp.concatenate([x, src], dim), order, dim)
    first = lax.slice_in_dim(jnp.ones_like(target, bool), 0, 1, axis=dim)
    starts = jnp.concatenate([first, jnp.diff(target, axis=dim) != 0], dim)

    def combine(left, right):
        anew = right[0]
        return left[0] | anew, jnp.where(anew, 1, left[1]) * right[1]

    products = _scanned(combine, (starts, factors), dim)[1]
    long = as_dtype(LONG)
    sizes = sum_into(jnp.ones(x.shape, long), index, jnp.ones(index.shape, long), dim)
    return read_along(products, jnp.cumsum(sizes, axis=dim) - 1, dim)


def _scanned(combine: Callable[..., Any], parts: tuple[Array, ...], dim: int) -> Any:
    if known(parts[0].shape[dim]):
        return lax.associative_scan(combine, parts, axis=dim)
    return running(combine, parts, dim)


def extremum_into(
    x: Array,
    index: Array,
    src: Array,
    dim: int,
    own: Array | int,
    write: Callable[..., Array],
) -> Array:
    """The greatest or least of `x` and of `src`; all elements that attain it share the gradient.

    An element of `x` takes part where `own` is 1. Where `own` is 0, any other extremum replaces it.
    """
    if category(x.dtype) < 2:
        return _write(x, index, src, dim, write)

    def extremum(x, index, src, own):
        keys = (invertible_keys(y, nan_least=write is lax.scatter_min) for y in (x, src))
        x_keys, src_keys = keys
        return from_keys(_write(x_keys, index, src_keys, dim, write), x.dtype)

    def tangent(primals, output, tangents):
        x, index, src, own = primals
        there = _read(output, index, dim)
        # A NaN is attained by all who went there, and is their derivative, as in PyTorch.
        kept = (equal(x, output) | jnp.isnan(output)) & (own == 1)
        attained = equal(src, there) | jnp.isnan(there)
        count = _add(kept.astype(x.dtype), index, attained.astype(x.dtype), dim)
        share = jnp.where(jnp.isnan(output), output, 1 / count)
        moving = jnp.where(kept, tangents[0], 0)
        return share * _add(moving, index, jnp.where(attained, tangents[2], 0), dim)

    return derivative_rules(extremum, jvp=tangent)(x, index, src, own)


def mean_into(x: Array, index: Array, src: Array, dim: int, own: Array | int) -> Array:
    """The mean of what `src` brings to each place, and of the element of `x` where `own` is 1."""
    ones, own = jnp.ones(index.shape, x.dtype), jnp.asarray(own, x.dtype)
    if index.ndim == x.ndim:
        count = sum_into(jnp.broadcast_to(own, x.shape), index, ones, dim)
    else:  # elements of a slice are equally many
        column = [n if d == dim else 1 for d, n in enumerate(x.shape)]
        line = jnp.broadcast_to(own, column).ravel()
        count = sum_into(line, index, ones, 0).reshape(column)
    total = _add(x, index, src, dim)
    return total // count if category(x.dtype) == 1 else total / count
