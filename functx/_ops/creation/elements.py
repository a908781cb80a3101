"""The value with which a new array is filled, as callers give it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import category, converted, describe, refuse


def element(value: Any, dtype: Any, name: str = "fill_value") -> Array:
    """The number or 0-d array `value` in `dtype`; as a bool, True unless it is zero."""
    value = jnp.asarray(value)
    if value.ndim:
        refuse(f"`{name}` must be a number or 0-d, got {describe(value)}", error=TypeError)
    if category(value.dtype) == 3 and 0 < category(dtype) < 3:
        refuse(f"`{name}` must be real for {np.dtype(dtype).name}, got {describe(value)}")
    return converted(value, dtype)
