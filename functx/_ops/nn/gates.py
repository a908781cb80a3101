"""Activation functions that multiply their argument by a share of 1."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from functx._core.rules.custom_derivatives import derivative_rules


Gate = Callable[[Array], Array]


def gated(gate: Gate, x: Array, *, beside_slope: Gate | None = None) -> Array:
    """`x * gate(x)`. The slope is complete before it meets a cotangent, since `x` may be large.

    `beside_slope` is the gate in the form in which it is best computed together with its slope.
    """

    def jvp(primals: tuple, output: Array, tangents: tuple) -> Array:
        (x,) = primals
        share, change = jax.jvp(beside_slope or gate, (x,), (jnp.ones_like(x),))
        return (share + x * change) * tangents[0]

    return derivative_rules(lambda x: x * gate(x), jvp=jvp, name="gated", of="primals")(x)
