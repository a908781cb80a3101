"""Arrays that give a shape, and arrays that must have one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from functx._core import describe, is_number, refuse


def check_is_array(x: Any, name: str) -> None:
    """Refuses a Python number, whose shape nobody means."""
    if is_number(x):
        refuse(f"`{name}` must be an array, got {describe(x)}", error=TypeError)


def check_source(src: Any, expected: Sequence[int]) -> None:
    """Refuses what does not have the shape of the part that it replaces."""
    if list(src.shape) != list(expected):
        refuse(f"`src` must have shape {list(expected)}, got {describe(src)}")
