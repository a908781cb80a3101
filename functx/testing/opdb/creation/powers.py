"""Powers in a row, and their derivatives at 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from functx.testing.make import Make
from functx.testing.opinfo import Convention, Sample


def np_powers(x: Any, count: int) -> Any:
    """The powers $x^0, x^1, ...$ along a new last dimension, in int64 if they are whole."""
    x = x.astype(np.int64) if x.dtype.kind in "biu" else x
    out = np.ones((*x.shape, count), x.dtype)
    for i in range(1, count):
        out[..., i] = out[..., i - 1] * x
    return out


def powers_at_zero(
    sample: Callable[[Any], Sample], make: Make, departure: str
) -> Iterator[Convention]:
    """Of a call that gives the powers to the third."""
    yield Convention(
        "0, to third order",
        sample(make.put([0.0, 2.0])),
        value=[[1, 0, 0, 0], [1, 2, 4, 8]],
        gradient=[1, 17],
        hessian=[[2, 0], [0, 14]],
        departure=departure,
    )
    yield Convention(
        "NaN and infinity to the power of 0",
        sample(make.put([np.nan, -np.inf])),
        value=[[1, np.nan, np.nan, np.nan], [1, -np.inf, np.inf, -np.inf]],
    )
