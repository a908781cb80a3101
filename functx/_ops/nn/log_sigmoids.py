"""The logarithm of the sigmoid."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from functx._core.rules import derivative_rules


# Both pieces have a kink at 0 where the whole has none, so the derivative is given.
log_sigmoid = derivative_rules(
    lambda x: jnp.minimum(x, 0) - jnp.log1p(jnp.exp(-jnp.abs(x))),
    jvp=lambda primals, output, tangents: lax.logistic(-primals[0]) * tangents[0],
    name="log_sigmoid",
)
