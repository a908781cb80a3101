"""Padding beside what is not finite, samples far out, and of what is large."""

from __future__ import annotations

from functx.testing.opinfo import Gap


BEYOND_THE_EDGE = Gap(
    "extremal",
    "XLA's convolutions of float32 on CPUs multiply the zeros of the padding",
    at="(infinite|NaN|all) in array 1",
)
MIRRORS = Gap(
    "extremal",
    "reflected images repeat many times between two neighbours of 1e20 in float32",
    at="(huge|mixed) in array 1",
)
SMALL_WEIGHTS = Gap(
    "extremal",
    "a slope is 1e20 times a small weight, and shows how the weight is rounded",
    at="mixed in array 0",
)
