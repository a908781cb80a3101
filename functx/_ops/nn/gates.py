"""Activation functions that let a share of their argument through."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from functx._core.rules import derivative_rules


Gate = Callable[[Array], Array]


def gated(gate: Gate, x: Array, *, beside_slope: Gate | None = None) -> Array:
    """`x * gate(x)`. Its slope takes in no cotangent before it is whole: `x` may be great.

    `beside_slope` is the gate as it is best computed together with its slope.
    """

    def jvp(primals: tuple, output: Array, tangents: tuple) -> Array:
        (x,) = primals
        share, change = jax.jvp(beside_slope or gate, (x,), (jnp.ones_like(x),))
        return (share + x * change) * tangents[0]

    return derivative_rules(lambda x: x * gate(x), jvp=jvp, name="gated", of="primals")(x)
