"""One element of many as the result: how its derivative is shared among equals."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array

from functx._core import category
from functx._core.rules import derivative_rules


def shared_evenly(
    choose: Callable[[Array], Array], axes: tuple[int, ...]
) -> Callable[[Array], Array]:
    """`choose`, which picks an element over `axes`, its derivative split among all equal to it.

    A NaN that was picked shares with the other NaNs.
    """

    def jvp(primals: tuple, output: Array, tangents: tuple) -> Array:
        (x,), (tangent,) = primals, tangents
        value = jnp.expand_dims(output, axes)
        chosen = x == value
        if category(x.dtype) == 2:
            chosen |= jnp.isnan(x) & jnp.isnan(value)
        count = jnp.sum(chosen, axis=axes, dtype=tangent.dtype)
        return jnp.sum(jnp.where(chosen, tangent, 0), axis=axes) / count

    return derivative_rules(choose, jvp=jvp)


def picked(input: Array, index: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The elements at `index` and `index` itself, both with size 1 along `dim` if `keepdim`."""
    values = taken(input, index, dim)
    return (values, index) if keepdim else (jnp.squeeze(values, dim), jnp.squeeze(index, dim))


def taken(input: Array, index: Array, dim: int) -> Array:
    """The elements at `index`, one per slice along `dim`, which stays with size 1."""
    return jnp.take_along_axis(input, index, axis=dim, mode="promise_in_bounds")
