"""Deviations from the mean: variances and standard deviations, also of what a mask keeps."""

from __future__ import annotations

import functools as ft
import math
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import as_number, category, real_of
from functx._core.rules.custom_derivatives import derivative_rules
from functx._core.rules.singular_points import zero_at_singular
from functx._ops.quotients import mean as mean_of, quotient


def off_mean(x: Array, axes: tuple[int, ...], kept: Array | None = None) -> tuple[Array, Array]:
    """The difference of each element from the mean, and the mean.

    If `kept` is given, it is the mean of the kept elements. The other elements must be 0 in `x`,
    and have the difference 0.
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
    """The sum of squares, divided by the number of elements less the correction, but not below 0.

    If `kept` is given, these are the kept elements, and the divisor is 1 where no freedom is left.
    """
    return _variance(off, axes, _left(off, axes, correction, kept, keepdims=keepdim), keepdim)


def _variance(off: Array, axes: tuple[int, ...], left: Any, keepdim: bool) -> Array:
    if category(off.dtype) == 3:
        squares = lax.real(off) ** 2 + lax.imag(off) ** 2
    else:
        squares = lax.square(off)
    return quotient(jnp.sum(squares, axis=axes, keepdims=keepdim), left)


def _left(
    off: Array, axes: tuple[int, ...], correction: Any, kept: Array | None, *, keepdims: bool
) -> Any:
    """The degrees of freedom, by which the sum of squares is divided."""
    count = _how_many(off, axes, kept, keepdims=keepdims)
    left = count - (1 if correction is None else correction)
    if kept is not None:
        return jnp.where(left > 0, left, 1)
    divisor = jnp.where(left > 0, left, 0) if isinstance(left, Array) else max(left, 0)
    return divisor if isinstance(count, Array) or count else 0


def deviation(
    off: Array, axes: tuple[int, ...], correction: Any, keepdim: bool, kept: Array | None = None
) -> Array:
    """The root of the variance, also where the variance leaves the range of the dtype."""
    left = _left(off, axes, correction, kept, keepdims=True)
    known, given = left, ()
    if isinstance(left, Array):
        known, given = 0, (left.astype(real_of(off.dtype)),)

    def forward(off: Array, *given: Array) -> Array:
        return _deviation(off, axes, *given or (known,))

    def jvp(primals: Any, output: Array, tangents: Any) -> Array:
        (off, *given), (moved, *moves) = primals, tangents
        [left] = given or (known,)
        none = output == 0
        size = jnp.where(none, 1, output).astype(off.dtype)
        slope = quotient(quotient(off, size), left)
        slope = zero_at_singular(none, slope, "of std(x)**2 write var(x)")
        tangent = jnp.sum(
            lax.real(lax.conj(slope) * moved) if category(off.dtype) == 3 else slope * moved,
            axis=axes,
            keepdims=True,
        )
        for move in moves:
            tangent -= quotient(output, 2 * left) * move
        return tangent

    out = derivative_rules(forward, jvp=jvp, name="std")(off, *given)
    return out if keepdim else jnp.squeeze(out, axes)


def _deviation(off: Array, axes: tuple[int, ...], left: Any) -> Array:
    """The deviation along dimensions that stay."""
    plain = lax.sqrt(_variance(off, axes, left, True))
    if off.size == 0:
        return plain
    third = int(jnp.finfo(off.dtype).maxexp) // 3
    low, high = 2.0**-third, 2.0**third

    def scaled() -> Array:
        parts = (off,) if category(off.dtype) == 2 else (lax.real(off), lax.imag(off))
        size = jnp.max(ft.reduce(jnp.maximum, map(jnp.abs, parts)), axis=axes, keepdims=True)
        down = jnp.where(size > high, low**2, jnp.where(size < low, high**2, 1))
        up = jnp.where(size > high, high**2, jnp.where(size < low, low**2, 1))
        out = lax.sqrt(_variance(off * down.astype(off.dtype), axes, left, True))
        return out * up.astype(out.dtype)

    ordinary = (plain > low) & (plain < high)
    return lax.cond(jnp.all(ordinary), lambda: plain, scaled)


def where_none_left(
    moment: Array, off: Array, axes: tuple[int, ...], correction: Any, keepdim: bool, kept: Array
) -> Array:
    """The moment of the elements that are `kept`, a constant where no degree of freedom is left.

    That constant is what its terms divided by 0 give: NaN or infinity.
    """
    left = _how_many(off, axes, kept, keepdims=keepdim) - (1 if correction is None else correction)
    sizes = jnp.sum(lax.abs(lax.stop_gradient(off)), axis=axes, keepdims=keepdim)
    return jnp.where(left > 0, moment, quotient(sizes, 0))


def _how_many(x: Array, axes: tuple[int, ...], kept: Array | None, *, keepdims: bool) -> Any:
    if kept is None:
        return as_number(math.prod(x.shape[axis] for axis in axes), real_of(x.dtype))
    return jnp.sum(kept, axis=axes, dtype=real_of(x.dtype), keepdims=keepdims)
