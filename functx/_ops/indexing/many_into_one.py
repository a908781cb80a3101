"""Many values written to one place: their product, their extremum, their mean."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import as_dtype, category, LONG
from functx._core.order import equal, from_keys, invertible_keys
from functx._core.rules import derivative_rules

from .addressing import read_along, sum_into, write_along


def product_into(x: Array, index: Array, src: Array, dim: int) -> Array:
    """`write_along`, multiplying; of bools, the logical and."""
    if category(x.dtype) == 0:
        return write_along(x, index, src, dim, lax.scatter_min)
    if category(x.dtype) == 1:
        return write_along(x, index, src, dim, lax.scatter_mul)

    def product(x, index, src):
        return write_along(x, index, src, dim, lax.scatter_mul)

    def tangent(primals, output, tangents):
        x, index, src = primals
        scan = ft.partial(_product_by_scan, index=index, dim=dim)
        return jax.jvp(lambda x, src: scan(x, src=src), (x, src), (tangents[0], tangents[2]))[1]

    return derivative_rules(product, jvp=tangent)(x, index, src)


def _product_by_scan(x: Array, index: Array, src: Array, dim: int) -> Array:
    """The same product without division, so that every derivative is right at zeros too.

    Factors are ordered by where they go and multiplied by a scan that starts anew there.
    """
    missing = [(0, 0 if d == dim else x.shape[d] - index.shape[d], 0) for d in range(x.ndim)]
    n = x.shape[dim]
    index = lax.pad(index, jnp.asarray(n, index.dtype), missing)
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

    products = lax.associative_scan(combine, (starts, factors), axis=dim)[1]
    long = as_dtype(LONG)
    sizes = sum_into(jnp.ones(x.shape, long), index, jnp.ones(index.shape, long), dim)
    return read_along(products, jnp.cumsum(sizes, axis=dim) - 1, dim)


def extremum_into(
    x: Array,
    index: Array,
    src: Array,
    dim: int,
    own: Array | int,
    write: Callable[..., Array],
) -> Array:
    """`write_along`, keeping the greatest or the least; all that attain it share the gradient.

    An element of `x` takes part where `own` is 1; where it is 0, any other extremum replaces it.
    """
    if category(x.dtype) < 2:
        return write_along(x, index, src, dim, write)

    def extremum(x, index, src, own):
        keys = (invertible_keys(y, nan_least=write is lax.scatter_min) for y in (x, src))
        x_keys, src_keys = keys
        return from_keys(write_along(x_keys, index, src_keys, dim, write), x.dtype)

    def tangent(primals, output, tangents):
        x, index, src, own = primals
        there = read_along(output, index, dim)
        # A NaN is attained by all who went there, and is their derivative, as in PyTorch.
        kept = (equal(x, output) | jnp.isnan(output)) & (own == 1)
        attained = equal(src, there) | jnp.isnan(there)
        count = sum_into(kept.astype(x.dtype), index, attained.astype(x.dtype), dim)
        share = jnp.where(jnp.isnan(output), output, 1 / count)
        moving = jnp.where(kept, tangents[0], 0)
        return share * sum_into(moving, index, jnp.where(attained, tangents[2], 0), dim)

    return derivative_rules(extremum, jvp=tangent)(x, index, src, own)


def mean_into(x: Array, index: Array, src: Array, dim: int, own: Array | int) -> Array:
    ones = jnp.ones(index.shape, x.dtype)
    count = sum_into(jnp.broadcast_to(jnp.asarray(own, x.dtype), x.shape), index, ones, dim)
    total = sum_into(x, index, src, dim)
    return total // count if category(x.dtype) == 1 else total / count
