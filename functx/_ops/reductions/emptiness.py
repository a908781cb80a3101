"""Refusals of arrays without elements, of which none can be picked."""

from __future__ import annotations

from jax import Array

from functx._core import describe, refuse


def refuse_empty(input: Array, dim: int) -> None:
    """Refuses an `input` without elements along `dim`."""
    refuse(f"dimension {dim} must not be empty, got {describe(input)}", error=IndexError)


def refuse_nothing(input: Array, error: type[Exception] = RuntimeError) -> None:
    """Refuses an `input` without any elements."""
    refuse(
        f"`input` must not be empty, got {describe(input)}",
        hint="`dim` may name a dimension that is not empty",
        error=error,
    )
