"""Cross products as NumPy has them, and what they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from functx.testing.make import Make
from functx.testing.opinfo import Refusal
from functx.testing.samples import call


def np_cross(input: Any, other: Any, dim: int) -> Any:
    return np.cross(input, other, axis=dim)


def cross_refusals(make: Make) -> Iterator[Refusal]:
    yield Refusal(call(make(3, 3), make(3)), "must have equally many dimensions")
    yield Refusal(call(make(1, 3), make(3, 1)), "dimension 1 of `input` and `other`")
    yield Refusal(call(make(2, 3), make(4, 3)), "shapes do not fit")
    yield Refusal(call(make(3), make(3, dtype="float16")), "same dtype", TypeError)
    yield Refusal(call(make.mask(3), make.mask(3)), "expected number", TypeError)
