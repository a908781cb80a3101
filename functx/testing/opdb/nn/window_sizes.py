from __future__ import annotations

from functx.testing.opinfo import FixedSizes


def window_is_a_number(*dims: int) -> FixedSizes:
    """Of `weight` these dimensions are no symbols."""
    return FixedSizes(
        "weight",
        "a program convolves with each element, plane or phase of a kernel, and their number "
        "decides which programs do",
        dims,
    )
