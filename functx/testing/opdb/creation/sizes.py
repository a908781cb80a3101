"""Sizes, as one argument, as several, or by name."""

from __future__ import annotations

from typing import Any


def size_of(*size: Any, **named: Any) -> Any:
    """The size of a new array: `f((2, 3))`, `f(2, 3)` and `f(size=(2, 3))` are one."""
    if "size" in named:
        return named["size"]
    return size if len(size) > 1 else size[0]
