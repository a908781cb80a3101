"""Distances of vectors as they are defined."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def np_distance(x: Any, y: Any, p: float = 2.0, eps: Any = 1e-6, keepdim: bool = False) -> Any:
    d = np.atleast_1d(np.abs(x.astype(np.result_type(x, "float64")) - y + eps))
    if p == 0:
        out = (d != 0).sum(-1).astype("float64")
    elif p == math.inf:
        out = d.max(-1)
    else:
        out = (d**p).sum(-1) ** (1 / p)
    out = out if d.ndim > 1 or x.ndim or y.ndim else out.reshape(())
    return out[..., None] if keepdim else out
