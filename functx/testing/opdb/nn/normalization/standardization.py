"""The formula of all normalizations."""

from __future__ import annotations

from typing import Any

import numpy as np

from functx.testing.opinfo import Gap


# PyTorch's kernels sum these squares in float32 as well.
SQUARES = Gap(
    "extremal", "the squares of 1e20 are more than float32 holds", at="(huge|mixed) in array 0"
)
OF_TWO = Gap(
    "extremal",
    "of two elements the slopes cancel, but for what rounding leaves of 1e20",
    at="(huge|mixed|all) in array 1",
)


def normalized(
    x: np.ndarray, mean: Any, var: Any, weight: Any, bias: Any, shape: Any, eps: float
) -> np.ndarray:
    """`x` less its mean, by the square root of its variance; then the parameters, in `shape`."""
    out = (x - mean) / np.sqrt(var + eps)
    out = out if weight is None else out * weight.reshape(shape)
    return out if bias is None else out + bias.reshape(shape)
