"""Quotients that are rounded once, as IEEE 754 says, also inside larger programs.

XLA multiplies by the reciprocal where a divisor is broadcast, or a square root, and merges two
divisions into one. `41 / 41` may then be less than 1.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.custom_batching import custom_vmap

from functx._core import as_number, category, platform_dependent
from functx._core.rules.custom_derivatives import derivative_rules


def quotient(x: Array, y: Any) -> Array:
    """$x / y$, broadcasting; `y` is converted to the dtype of `x`, which is not integral.

    Derivatives do not square `y`, which may leave the range.
    """
    if isinstance(y, Array):
        return _quotient(*jnp.broadcast_arrays(x, lax.convert_element_type(y, x.dtype)))
    return _by_constant(x, np.asarray(y, x.dtype))


def mean(x: Array, axes: Any = None, *, keepdims: bool = False) -> Array:
    """The mean over `axes`, or over all, of what is not integral."""
    count = math.prod(x.shape if axes is None else [x.shape[axis] for axis in axes])
    return quotient(jnp.sum(x, axes, keepdims=keepdims), as_number(count, x.dtype))


def _by_constant(x: Array, y: np.ndarray) -> Array:
    divide = derivative_rules(
        lambda x: _divided(x, jnp.broadcast_to(y, x.shape)),
        jvp=lambda primals, output, tangents: _by_constant(tangents[0], y),
        vjp=lambda primals, output, cotangent: (_by_constant(cotangent, y),),
        name="div",
    )
    return divide(jnp.broadcast_to(x, jnp.broadcast_shapes(x.shape, y.shape)))


@custom_vmap
def _divided(x: Array, y: Array) -> Array:
    return platform_dependent(x, y, cpu=_behind_a_barrier, default=_hidden)


@_divided.def_vmap
def _divided_in_lanes(size: int, batched: Any, x: Array, y: Array) -> tuple[Array, bool]:
    # A divisor that all lanes share is broadcast before the barrier, not behind it.
    each = [
        operand if own else jnp.broadcast_to(operand, (size, *operand.shape))
        for operand, own in zip((x, y), batched, strict=True)
    ]
    return _divided(*each), True


def _behind_a_barrier(x: Array, y: Array) -> Array:
    # On CPUs barriers go before loops are fused, so this one costs nothing.
    return lax.div(*lax.optimization_barrier((x, y)))


def _hidden(x: Array, y: Array) -> Array:
    if jax.typeof(x).sharding != jax.typeof(y).sharding:
        return lax.div(x, y)  # a choice asks for operands that lie on the same devices
    # Nothing is less than itself, which the compiler sees when it is done with divisions.
    part = lax.real(x) if category(x.dtype) == 3 else x
    never = part < part
    return lax.div(lax.select(never, y, x), lax.select(never, x, y))


def _tangent(primals: Any, output: Array, tangents: Any) -> Array:
    # What is not differentiated has a tangent of 0, whatever its slope. Where the slope is finite
    # the rule stays linear: it is differentiated in turn, where a tangent is 0 too.
    (_, y), (dx, dy) = primals, tangents
    in_x, in_y = (jnp.where((t == 0) & (y == 0), 0, _quotient(t, y)) for t in (dx, dy))
    return in_x - jnp.where((dy == 0) & ~jnp.isfinite(output), 0, in_y * output)


def _cotangents(primals: Any, output: Array, cotangent: Array) -> tuple[Array, Array]:
    in_x = _quotient(cotangent, primals[1])
    return in_x, -in_x * output


_quotient = derivative_rules(_divided, jvp=_tangent, vjp=_cotangents, name="div")
