"""Where there is nothing to pick."""

from __future__ import annotations

from jax import Array

from functx._core import describe, refuse


def refuse_empty(input: Array, dim: int) -> None:
    """Of no elements along a dimension, none can be picked."""
    refuse(f"dimension {dim} must not be empty, got {describe(input)}", error=IndexError)


def refuse_nothing(input: Array, error: type[Exception] = RuntimeError) -> None:
    """Of no elements at all, none can be picked."""
    refuse(
        f"`input` must not be empty, got {describe(input)}",
        hint="`dim` may name a dimension that is not empty",
        error=error,
    )
