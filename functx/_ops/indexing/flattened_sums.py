"""Sums of many values into one place, where positions count through the whole flattened array."""

from __future__ import annotations

import functools as ft
import math

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import category, known, platform_dependent
from functx._core.rules.custom_derivatives import derivative_rules

from .addressing import read_along, sum_into


_NOWHERE = np.int32(np.iinfo(np.int32).max)


def sum_into_flattened(x: Array, index: Array, updates: Array, dim: int) -> Array:
    """`sum_into`, which on CPUs gives each update one number for its place in all dimensions.

    XLA would write down a number for each dimension, also for elements of `x` that have no update.
    """
    sized = known(*x.shape, *index.shape) and x.size <= _NOWHERE
    if x.ndim < 2 or category(x.dtype) < 2 or not sized:
        return sum_into(x, index, updates, dim)

    of_cpus, of_others = (ft.partial(way, dim=dim) for way in (_by_one_number, sum_into))
    forward = lambda *arrays: platform_dependent(*arrays, cpu=of_cpus, default=of_others)
    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: sum_into_flattened(
            tangents[0], primals[1], tangents[2], dim
        ),
        vjp=lambda primals, output, cotangent: (
            cotangent,
            None,
            _read_or_zero(cotangent, primals[1], dim),
        ),
        name="scatter_add",
    )(x, index, updates)


def _read_or_zero(x: Array, index: Array, dim: int) -> Array:
    """`read_along`, with 0 outside of the array: the transposed map."""
    inside = (index >= 0) & (index < x.shape[dim])
    return jnp.where(inside, read_along(x, jnp.where(inside, index, 0), dim), 0)


def _by_one_number(x: Array, index: Array, updates: Array, dim: int) -> Array:
    """`x` with `updates` added at `index` along `dim`, as a scatter into the flat array."""
    strides = [math.prod(x.shape[d + 1 :]) for d in range(x.ndim)]
    inside = (index >= 0) & (index < x.shape[dim])
    place = jnp.where(inside, index, 0).astype(np.int32) * np.int32(strides[dim])
    for d, stride in enumerate(strides):
        if d != dim:
            place += lax.broadcasted_iota(np.int32, index.shape, d) * np.int32(stride)
    place = jnp.where(inside, place, _NOWHERE).ravel()
    flat = x.ravel().at[place].add(updates.ravel(), mode="drop")
    return flat.reshape(x.shape)
