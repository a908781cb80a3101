"""Whether a dtype can hold a value."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np

from functx._core import category, Requirement


def representable(xp: ModuleType, value: Any, dtype: np.dtype, name: str) -> Iterator[Requirement]:
    """`value` does not overflow `dtype`. Negative integers wrap in unsigned dtypes."""
    value = xp.asarray(value)
    if value.dtype == object:  # a Python integer of more than 64 bits
        value = value.astype(float)
    if category(dtype) == 0 or category(value.dtype) == 3:
        return
    if category(dtype) == 1:
        info = np.iinfo(dtype)
        wraps = info.min == 0 and category(value.dtype) < 2
        ok = (value >= (-info.max if wraps else info.min)) & (value <= info.max)
    else:
        finite = xp.abs(value) <= float(jnp.finfo(dtype).max)
        ok = finite | (value != value) | (xp.abs(value) == np.inf)
    yield Requirement(ok, f"`{name}` must fit {dtype.name}, got {{got}}", got=value)
