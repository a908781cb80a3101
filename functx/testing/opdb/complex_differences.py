"""Halves less a complex number, of which XLA has none as narrow."""

from __future__ import annotations

from functx.testing.opinfo import OwnDtypes


COMPLEX_DIFFERENCE = OwnDtypes(
    "f32",
    "the difference is complex64, where PyTorch's is complex32, which XLA lacks",
    r"c64\[\]",
    frozenset({"float16"}),
)
