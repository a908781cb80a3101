"""Stretches of a sequence of numbers that repeat themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Stretch(NamedTuple):
    """`length` numbers from `start` on, each of them the one that stands `period` before it."""

    start: int
    length: int
    period: int

    @property
    def saved(self) -> int:
        """How many numbers are repetitions."""
        return self.length - self.length % self.period - self.period


def stretches(numbers: Sequence[int], least: int) -> list[Stretch]:
    """The longest stretches of each period that have `least` periods; what saves most comes first.

    Of stretches that save alike, the one with the shorter period comes first.
    """
    found: list[Stretch] = []
    values = np.asarray(numbers)
    for period in range(1, len(values) // least + 1):
        alike = np.zeros(len(values) - period + 2, bool)
        alike[1:-1] = values[period:] == values[:-period]
        edges = np.flatnonzero(alike[1:] != alike[:-1])
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if stop - start >= (least - 1) * period:
                found.append(Stretch(start, stop - start + period, period))
    return sorted(found, key=lambda x: (-x.saved, x.period, x.start))
