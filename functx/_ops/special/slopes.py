"""Functions of several arrays with given partial derivatives, which may be infinite or NaN."""

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
    """`function`, with the partial derivatives that `slopes` computes from arguments and result.

    Arguments that are not differentiated add nothing, even where their slope is infinite or NaN.
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
    """The slope, and 0 if it is not finite beside a factor of 0; the product stays linear."""
    return jnp.where((factor == 0) & ~jnp.isfinite(slope), 0, slope)
