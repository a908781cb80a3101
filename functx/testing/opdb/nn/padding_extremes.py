"""What becomes of padding beside what is not finite."""

from __future__ import annotations

from functx.testing.opinfo import Extreme


BEYOND_THE_EDGE = Extreme(
    "(infinite|NaN|all) in array 1",
    "XLA's convolutions of float32 on CPUs multiply the zeros of the padding",
)
