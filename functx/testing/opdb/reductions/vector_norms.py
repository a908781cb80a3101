"""Norms as NumPy has them."""

from __future__ import annotations

import math

import numpy as np


def np_vector_norm(x, p, axes):
    """The norm over `axes`, which stay."""
    reduce = {"axis": axes, "keepdims": True}
    if math.isinf(p):
        return (np.max if p > 0 else np.min)(np.abs(x), **reduce)
    if p == 0:
        return np.sum(x != 0, **reduce)
    return np.sum(np.abs(x) ** p, **reduce) ** (1 / p)
