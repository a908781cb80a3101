r"""The error function and its complement, with the slope $\pm\tfrac{2}{\sqrt\pi} e^{-x^2}$.

JAX 0.12's own slope cannot be traced inside of `shard_map`.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core.rules import derivative_rules


def error_slope(x: Any) -> Array:
    """That of `erf`; of `erfc` it is the negative."""
    x = jnp.clip(x, -30, 30)  # beyond it is 0, and so are the slopes of infinities
    return 2 / math.sqrt(math.pi) * jnp.exp(-x * x)


error_function = derivative_rules(
    lax.erf,
    jvp=lambda primals, output, tangents: tangents[0] * error_slope(primals[0]),
    name="erf",
)

complementary_error_function = derivative_rules(
    lax.erfc,
    jvp=lambda primals, output, tangents: -tangents[0] * error_slope(primals[0]),
    name="erfc",
)
