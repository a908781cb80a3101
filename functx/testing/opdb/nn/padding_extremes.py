"""Padding beside what is not finite, samples far out, and of what is large."""

from __future__ import annotations

from functx.testing.opinfo import Extreme


BEYOND_THE_EDGE = Extreme(
    "(infinite|NaN|all) in array 1",
    "XLA's convolutions of float32 on CPUs multiply the zeros of the padding",
)
MIRRORS = Extreme(
    "(huge|mixed) in array 1",
    "reflected images repeat many times between two neighbours of 1e20 in float32",
)
SMALL_WEIGHTS = Extreme(
    "mixed in array 0", "a slope is 1e20 times a small weight, and shows how the weight is rounded"
)
