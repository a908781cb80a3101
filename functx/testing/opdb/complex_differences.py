"""Halves less a complex number, of which XLA has none as narrow."""

from __future__ import annotations

from functx.testing.opinfo import Departure


COMPLEX_DIFFERENCE = Departure(
    "dtype",
    "the difference is complex64, where PyTorch's is complex32, which XLA lacks",
    answer="f32",
    match=r"c64\[\]",
    dtypes=frozenset({"float16"}),
)
