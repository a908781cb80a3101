"""Checks and conversions of the arrays that a loss takes beside its input."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import broadcasts_to, category, converted, describe, refuse


def of_one_shape(input: Array, **others: Array) -> None:
    """Refuses arrays whose shape is not the input's; the keywords are their names."""
    for name, x in others.items():
        if x.shape != input.shape:
            refuse(
                f"`{name}` must have the shape of `input`, {describe(input)}, got {describe(x)}",
                error=ValueError,
            )


def factor_of(name: str, factor: Any, input: Array) -> Array | None:
    """A weight in the dtype of computation, or None if there is no weight."""
    if factor is None:
        return None
    factor = jnp.asarray(factor)
    kind = category(factor.dtype)
    if kind == 3 or (kind == 0 and name == "pos_weight"):
        refuse(f"`{name}` must hold real numbers, got {describe(factor)}", error=TypeError)
    if not broadcasts_to(factor.shape, input.shape):
        refuse(f"`{name}` must broadcast to {describe(input)}, got {describe(factor)}")
    return converted(factor, input.dtype)
