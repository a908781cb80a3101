"""Calls with several arrays, which are given one after another or in a list."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax import Array


def listed_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Rewrites `block_diag(x, y)` as `block_diag([x, y])`."""
    alone = len(args) == 1 and not isinstance(args[0], (Array, np.ndarray))
    if alone or "tensors" in kwargs or "matrices" in kwargs:
        return args, kwargs
    return (list(args),), kwargs
