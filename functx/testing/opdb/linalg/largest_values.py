"""The largest singular value beside others that are equal, as a formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp


def largest_of(first: float, rest: float) -> Callable[[Any], Any]:
    """That of `diag(first, rest, ..., rest)`, as first of the result, right to the second order.

    The largest eigenvalue of $A^T A$ by perturbation theory.
    """

    def formula(A: Any, *_: Any) -> Any:
        row, column = A[0, 1:], A[1:, 0]
        turned = jnp.sum((first * row + rest * column) ** 2) / (first**2 - rest**2)
        return jnp.sqrt(A[0, 0] ** 2 + jnp.sum(column**2) + turned)[None]

    return formula
