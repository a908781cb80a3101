"""One element of many as the result, and how equal elements share its derivative."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable

import jax.numpy as jnp
from jax import Array, lax

from functx._core import available, category, LONG, position_dtype
from functx._core.numbers.bitwise_comparison import same
from functx._core.rules.custom_derivatives import derivative_rules


def shared_evenly(
    choose: Callable[[Array], Array],
    axes: tuple[int, ...],
    kept: Array | None = None,
    *,
    rounded: bool = False,
) -> Callable[[Array], Array]:
    """`choose`, which picks an element over `axes`; all equal elements share the derivative.

    A NaN that is picked shares with the other NaNs. If `kept` is given, only kept elements have a
    share. Elements that are `rounded` may be computed once for the choice and once for the
    derivative, in loops that round otherwise: where none is equal, those nearby share.
    """

    def jvp(primals: tuple, output: Array, tangents: tuple) -> Array:
        (x, *masks), (tangent, *_) = primals, tangents
        value = jnp.expand_dims(output, axes)
        equal = same(x, value)
        if rounded:
            # The modulus may differ by some ulps between the two loops.
            near = lax.abs(x - value) <= 8 * jnp.finfo(x.dtype).eps * value
            equal |= near & ~jnp.any(equal, axis=axes, keepdims=True)
        chosen = ft.reduce(jnp.logical_and, masks, equal)
        count = jnp.sum(chosen, axis=axes, dtype=tangent.dtype)
        if masks:
            count = jnp.maximum(count, 1)
        return jnp.sum(jnp.where(chosen, tangent, 0), axis=axes) / count

    if kept is None:
        return derivative_rules(choose, jvp=jvp)
    ruled = derivative_rules(lambda x, _: choose(x), jvp=jvp, name="shared_evenly")
    return lambda x: ruled(x, kept)


def picked(input: Array, index: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The elements at `index` and `index` itself, both with size 1 along `dim` if `keepdim`."""
    values = taken(input, index, dim)
    index = index.astype(available(LONG))
    return (values, index) if keepdim else (jnp.squeeze(values, dim), jnp.squeeze(index, dim))


def taken(input: Array, index: Array, dim: int) -> Array:
    """The elements at `index`, one for each slice along `dim`, which stays with size 1.

    The transpose of this choice chooses among zeros, where that of a gather would scatter.
    """

    def forward(x: Array, index: Array) -> Array:
        return jnp.take_along_axis(x, index, axis=dim, mode="promise_in_bounds")

    def vjp(primals: tuple, output: Array, cotangent: Array) -> tuple:
        x, index = primals
        return jnp.where(places(x, dim) == index, cotangent, 0), None

    if category(input.dtype) < 2:
        return forward(input, index)
    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: taken(tangents[0], primals[1], dim),
        vjp=vjp,
        name="taken",
    )(input, index)


def places(x: Array, dim: int) -> Array:
    """The position of each element along `dim`, in 32 bits if they hold it."""
    return lax.broadcasted_iota(position_dtype(x.shape[dim]), x.shape, dim)
