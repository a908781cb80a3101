"""The sizes of new arrays, as callers give them."""

from __future__ import annotations

from typing import Any

from functx._core import known_sizes, refuse, Size


def size_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Reads `zeros(2, 3)` as `zeros((2, 3))`."""
    return ((args,) if len(args) > 1 else args), kwargs


def size_after_array(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Reads `new_zeros(x, 2, 3)` as `new_zeros(x, (2, 3))`."""
    return ((args[0], args[1:]) if len(args) > 2 else args), kwargs


def non_negative(size: tuple[Size, ...], name: str = "size") -> tuple[Size, ...]:
    """`size` as it is; a negative size in it is refused."""
    if min(known_sizes(size), default=0) < 0:
        refuse(f"`{name}` must not be negative, got {list(size)}")
    return size
