"""Samples of determinants."""

from __future__ import annotations

from typing import Any

import numpy as np

import functx
from functx.testing.floors import FACTORED
from functx.testing.opinfo import OpInfo

from .square_matrices import square_refusals, square_samples


def np_slogdet(A: Any) -> Any:
    return tuple(np.linalg.slogdet(A))


OPS = [
    OpInfo(functx.linalg.det, square_samples, np.linalg.det, square_refusals, floor=FACTORED),
    OpInfo(functx.linalg.slogdet, square_samples, np_slogdet, square_refusals, floor=FACTORED),
]
