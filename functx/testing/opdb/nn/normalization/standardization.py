"""The formula of all normalizations."""

from __future__ import annotations

from typing import Any

import numpy as np


def normalized(
    x: np.ndarray, mean: Any, var: Any, weight: Any, bias: Any, shape: Any, eps: float
) -> np.ndarray:
    """`x` less its mean, by the square root of its variance; then the parameters, in `shape`."""
    out = (x - mean) / np.sqrt(var + eps)
    out = out if weight is None else out * weight.reshape(shape)
    return out if bias is None else out + bias.reshape(shape)
