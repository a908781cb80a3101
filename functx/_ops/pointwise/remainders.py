"""The remainder of truncated division."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import platform_dependent


_MOST = 2.0**28  # products of smaller quotients with 24 bits are exact in double precision


def truncated_remainder(x: Array, y: Array) -> Array:
    """The remainder that `lax.rem` gives, exact, with the sign of `x`; one shape and dtype."""
    if x.dtype != np.float32:
        return lax.rem(x, y)
    return platform_dependent(x, y, cpu=_vectorised, default=lax.rem)


def _vectorised(x: Array, y: Array) -> Array:
    """The remainder in vectors, where no quotient is large.

    XLA's `rem` calls the C library for each element on CPUs.
    """
    tiny = np.finfo(np.float32).tiny  # the processor takes a smaller divisor for 0
    fits = (lax.abs(y) >= tiny) & ~(lax.abs(x) > lax.abs(y) * np.float32(_MOST))
    return lax.cond(jnp.all(fits), _from_doubles, lax.rem, x, y)


def _from_doubles(x: Array, y: Array) -> Array:
    with jax.enable_x64(True):
        wide, divisor = (lax.convert_element_type(v, np.float64) for v in (x, y))
        # This is the nearest quotient or one next to it; the signs tell which.
        quotient = lax.round(wide / divisor, lax.RoundingMethod.TO_NEAREST_EVEN)
        left = wide - quotient * divisor
        size = lax.abs(divisor)
        turned = left * lax.sign(wide)
        left = jnp.where(turned < 0, left + lax.sign(wide) * size, left)
        left = lax.convert_element_type(left, np.float32)
    left = jnp.where(left == 0, jnp.copysign(np.float32(0), x), left)
    return jnp.where(lax.abs(x) < lax.abs(y), x, left)  # subnormal `x` and infinite `y` too
