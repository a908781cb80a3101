"""Running results along a dimension."""

from __future__ import annotations

from collections.abc import Callable

from jax import Array


def scanned(scan: Callable[..., Array], input: Array, dim: int) -> Array:
    """`scan(input, axis=dim)`, which leaves a 0-d array as it is."""
    return scan(input, axis=dim) if input.ndim else input
