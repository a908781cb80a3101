"""Checks of arrays that give a shape, and of arrays that must have one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from functx._core import decided, describe, is_number, refuse
from functx._core.shapes.symbolic_sizes import differ


def check_is_array(x: Any, name: str) -> None:
    """Refuses a Python number, whose shape nobody means."""
    if is_number(x):
        refuse(f"`{name}` must be an array, got {describe(x)}", error=TypeError)


def check_source(src: Any, expected: Sequence[int]) -> None:
    """Refuses a `src` whose shape is not that of the part that it replaces."""
    sizes = zip(src.shape, expected, strict=False)
    if src.ndim != len(expected) or any(
        decided(lambda n=n, m=m: differ(n, m), otherwise=False) for n, m in sizes
    ):
        refuse(f"`src` must have shape {list(expected)}, got {describe(src)}")
