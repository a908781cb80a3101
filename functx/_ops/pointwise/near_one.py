"""The logarithm of one plus a number."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category
from functx._core.rules import derivative_rules


def logarithm_of_1_plus(x: Array) -> Array:
    r"""$\ln(1 + x)$ of floating or complex numbers."""
    return lax.log1p(x) if category(x.dtype) == 3 else _real(x)


def _forward(x: Array) -> Array:
    # In double precision, XLA's is off by 120 ulp there.
    low = x < -0.25
    return jnp.where(low, lax.log(1 + x), lax.log1p(jnp.where(low, 0, x)))


_real = derivative_rules(
    _forward,
    jvp=lambda primals, output, tangents: tangents[0] / (1 + primals[0]),
    name="log1p",
)
