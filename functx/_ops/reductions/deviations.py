"""How far elements are off their mean: variances and deviations, also of what a mask keeps."""

from __future__ import annotations

import functools as ft
import math
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import as_number, category, real_of
from functx._ops.quotients import mean as mean_of, quotient


def off_mean(x: Array, axes: tuple[int, ...], kept: Array | None = None) -> tuple[Array, Array]:
    """How far each element is off the mean, and the mean; of elements that are `kept`, if said.

    The others, which must be 0 in `x`, are off by nothing.
    """
    if kept is None:
        mean = mean_of(x, axes, keepdims=True)
        return x - mean, mean
    count = jnp.maximum(_how_many(x, axes, kept, keepdims=True), 1)
    mean = quotient(jnp.sum(x, axis=axes, keepdims=True), count)
    return jnp.where(kept, x - mean, 0), mean


def variance(
    off: Array, axes: tuple[int, ...], correction: Any, keepdim: bool, kept: Array | None = None
) -> Array:
    """The sum of squares, divided by how many there are less the correction, but not below 0.

    Of elements that are `kept`, if that is said, by 1 where nothing is left to divide by.
    """
    if category(off.dtype) == 3:
        squares = lax.real(off) ** 2 + lax.imag(off) ** 2
    else:
        squares = lax.square(off)
    count = _how_many(off, axes, kept, keepdims=keepdim)
    left = count - (1 if correction is None else correction)
    if kept is not None:
        divisor = jnp.where(left > 0, left, 1)
    else:
        divisor = jnp.where(left > 0, left, 0) if isinstance(left, Array) else max(left, 0)
        divisor = divisor if isinstance(count, Array) or count else 0
    return quotient(jnp.sum(squares, axis=axes, keepdims=keepdim), divisor)


def deviation(
    off: Array, axes: tuple[int, ...], correction: Any, keepdim: bool, kept: Array | None = None
) -> Array:
    """The root of the variance, also where the variance leaves the range of the dtype."""
    plain = _root(variance(off, axes, correction, keepdim, kept))
    if off.size == 0:
        return plain
    third = int(jnp.finfo(off.dtype).maxexp) // 3
    low, high = 2.0**-third, 2.0**third

    def scaled() -> Array:
        parts = (off,) if category(off.dtype) == 2 else (lax.real(off), lax.imag(off))
        sizes = ft.reduce(jnp.maximum, map(jnp.abs, map(lax.stop_gradient, parts)))
        size = jnp.max(sizes, axis=axes, keepdims=True)
        down = jnp.where(size > high, low**2, jnp.where(size < low, high**2, 1))
        up = jnp.where(size > high, high**2, jnp.where(size < low, low**2, 1))
        out = _root(variance(off * down.astype(off.dtype), axes, correction, keepdim, kept))
        return out * (up if keepdim else jnp.squeeze(up, axes)).astype(out.dtype)

    ordinary = (plain > low) & (plain < high)
    return lax.cond(jnp.all(ordinary), lambda: plain, scaled)


def where_none_left(
    moment: Array, off: Array, axes: tuple[int, ...], correction: Any, keepdim: bool, kept: Array
) -> Array:
    """The variance or deviation of what is `kept`, a constant where nothing is left to divide by.

    That is what its terms make when they are divided by 0, NaN or infinity.
    """
    left = _how_many(off, axes, kept, keepdims=keepdim) - (1 if correction is None else correction)
    sizes = jnp.sum(lax.abs(lax.stop_gradient(off)), axis=axes, keepdims=keepdim)
    return jnp.where(left > 0, moment, quotient(sizes, 0))


def _how_many(x: Array, axes: tuple[int, ...], kept: Array | None, *, keepdims: bool) -> Any:
    if kept is None:
        return as_number(math.prod(x.shape[axis] for axis in axes), real_of(x.dtype))
    return jnp.sum(kept, axis=axes, dtype=real_of(x.dtype), keepdims=keepdims)


def _root(variance: Array) -> Array:
    """The square root, with all derivatives 0 at 0."""
    constant = variance == 0
    return jnp.where(constant, 0, lax.sqrt(jnp.where(constant, 1, variance)))
