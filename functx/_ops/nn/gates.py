"""Activation functions that let a share of their argument through."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from functx._core.rules import derivative_rules


def gated(gate: Callable[[Array], Array], x: Array) -> Array:
    """`x * gate(x)`. Its slope takes in no cotangent before it is whole: `x` may be great."""

    def jvp(primals: tuple, output: Array, tangents: tuple) -> Array:
        (x,) = primals
        share, change = jax.jvp(gate, (x,), (jnp.ones_like(x),))
        return (share + x * change) * tangents[0]

    return derivative_rules(lambda x: x * gate(x), jvp=jvp, name="gated")(x)
