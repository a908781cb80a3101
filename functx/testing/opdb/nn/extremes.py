"""Inputs at which careless derivatives overflow, and what must hold there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from functx.testing.opinfo import Convention, Make
from functx.testing.samples import call


EXTREMES = {
    "zeros": np.zeros((2, 3)),
    "tiny": np.full((2, 3), 1e-20) * [[1, -1, 2]],
    "huge": np.asarray([[1e4, -1e4, 0], [88, -88, 1]]),
    "mixed": np.asarray([[1e-20, 1e4, 0], [-1e4, 1e-20, 3]]),
}


def smooth_at_extremes(make: Make, *rest: Any) -> Iterator[Convention]:
    """Derivatives to second order exist in single precision; `rest` follows the input."""
    for name, at in EXTREMES.items():
        sample = call(make.put(at, "float32"), *rest)
        what = f"{name}, second derivatives"
        yield Convention(what, sample, smooth=True, ulps=5e11, floor=1e-5)  # single precision
