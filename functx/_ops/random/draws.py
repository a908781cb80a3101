"""What samplers draw from, and how their parameters are read."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import category, describe, refuse


def inside_unit_interval(key: Array, shape: tuple[int, ...], dtype: np.dtype) -> Array:
    """Uniform numbers from (0, 1), neither end of which occurs, evenly spaced around 1/2."""
    # Half a step above the multiples of eps that JAX draws: exact, and with a logarithm.
    return jax.random.uniform(key, shape, dtype) + jnp.asarray(jnp.finfo(dtype).eps / 2, dtype)


def parameter(x: Any, name: str, dtype: np.dtype) -> Array:
    """A real number or a 0-d array in `dtype`, or a refusal."""
    x = jnp.asarray(x)
    if x.ndim or category(x.dtype) == 3:
        refuse(f"`{name}` must be a real number or a 0-d array, got {describe(x)}", error=TypeError)
    return lax.convert_element_type(x, dtype)
