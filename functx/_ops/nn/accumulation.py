"""The dtype in which products are summed."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from functx._core import DEFAULT_FLOAT


_HALVES = (np.dtype("float16"), np.dtype(jnp.bfloat16))


def accumulator(dtype: Any) -> np.dtype:
    """float32 for halves, any other dtype itself.

    Passed as `preferred_element_type`, it leaves the operands as they are: units that multiply
    halves are used where a device has them.
    """
    return DEFAULT_FLOAT if dtype in _HALVES else np.dtype(dtype)
