"""Matrices of which one triangle is read: both hold numbers."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from functx.testing.make import Make


def dominant(make: Make, *shape: int) -> jax.Array:
    """Matrices `[..., m, n]` whose diagonal outweighs each triangle."""
    A = np.asarray(make.matrix(*shape))
    return make.put(A + 4 * np.eye(*shape[-2:]))


def np_triangle(A: Any, upper: bool, unitriangular: bool = False) -> Any:
    """What is read of `A`, and zeros."""
    if unitriangular:
        A = np.where(np.eye(A.shape[-1], dtype=bool), 1, A)
    return np.triu(A) if upper else np.tril(A)


def np_adjoint(A: Any) -> Any:
    return np.swapaxes(A, -1, -2).conj()
