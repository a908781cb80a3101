"""Points at which a function has a first derivative by convention, and no second one."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core.context.user_contexts import showing_singular

from .custom_derivatives import derivative_rules


MARK = "singular point: "  # and what to write instead: what the rule of such a slope is called


def zero_at_singular(singular: Array, slope: Array, instead: str, *, in_all: bool = False) -> Array:
    """`slope`, but 0 where `singular`: the slope that a rule gives where there is none.

    Further derivatives are 0 there as well, though those beside it grow beyond all bounds: nothing
    that is composed with the function can have a right one. So `functx.debug.detect_anomaly`, which
    traces with `showing_singular`, gets NaN in their place, and shows `instead`, which says what to
    write. Other programs have no trace of it. Along directions that do not move `slope`, its
    derivative is 0, unless `in_all` it is none; to a cotangent of 0 nothing says of what it is.
    """
    if not showing_singular.value:
        return jnp.where(singular, 0, slope)

    def jvp(primals: Any, output: Array, tangents: Any) -> Array:
        (singular, _), (_, moved) = primals, tangents
        still = (moved == 0) & (not in_all)
        return jnp.where(singular, jnp.where(still, 0, jnp.nan), moved)

    def vjp(primals: Any, output: Array, cotangent: Array) -> tuple[None, Array]:
        return None, jnp.where(primals[0], jnp.nan, cotangent)

    marked = derivative_rules(
        lambda singular, slope: jnp.where(singular, 0, slope),
        jvp=jvp,
        vjp=vjp,
        name=MARK + instead,
    )
    return marked(jnp.broadcast_to(singular, slope.shape), slope)
