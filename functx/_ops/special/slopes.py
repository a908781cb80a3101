"""Functions of several arrays whose slopes are given, each of which may be where others are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core.rules.custom_derivatives import derivative_rules


PointwiseFunction = Callable[..., Array]


def with_slopes(
    function: PointwiseFunction, slopes: Callable[..., tuple[Array, ...]], name: str
) -> PointwiseFunction:
    """`function`, whose partial derivatives are what `slopes` makes of arguments and result.

    What is not differentiated adds nothing, though its slope be infinite or NaN.
    """

    def tangent(primals: tuple[Array, ...], output: Array, tangents: tuple[Any, ...]) -> Array:
        total = jnp.zeros_like(output)
        for slope, t in zip(slopes(*primals, output), tangents, strict=True):
            total = total + t * _counted(slope, t)
        return total

    def cotangents(
        primals: tuple[Array, ...], output: Array, cotangent: Array
    ) -> tuple[Array, ...]:
        each = slopes(*primals, output)
        return tuple(cotangent * _counted(slope, cotangent) for slope in each)

    return derivative_rules(function, jvp=tangent, vjp=cotangents, name=name)


def _counted(slope: Array, factor: Array) -> Array:
    """The slope, 0 if it is not finite beside a factor of 0; the product stays linear in this."""
    return jnp.where((factor == 0) & ~jnp.isfinite(slope), 0, slope)
