"""Polynomials in double precision."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array


def horner(coefficients: Sequence[float], x: Array) -> Array:
    r"""$\sum_k c_k x^k$."""
    total = jnp.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + np.float64(coefficient)
    return total
