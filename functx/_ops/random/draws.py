"""The uniform numbers that samplers draw, and the parameters of samplers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import category, describe, refuse


def inside_unit_interval(key: Array, shape: tuple[int, ...], dtype: np.dtype) -> Array:
    """Uniform numbers from (0, 1), without either end, evenly spaced around 1/2."""
    # The numbers lie half a step above the multiples of eps that JAX draws: exact and not 0.
    return jax.random.uniform(key, shape, dtype) + jnp.asarray(jnp.finfo(dtype).eps / 2, dtype)


def parameter(x: Any, name: str, dtype: np.dtype) -> Array:
    """The real number or 0-d array `x` in `dtype`; anything else is refused."""
    x = jnp.asarray(x)
    if x.ndim or category(x.dtype) == 3:
        refuse(f"`{name}` must be a real number or a 0-d array, got {describe(x)}", error=TypeError)
    return lax.convert_element_type(x, dtype)
