"""Polynomials of known coefficients, in the precision of the argument."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array


def horner(coefficients: Sequence[float], x: Array) -> Array:
    r"""$\sum_k c_k x^k$: the coefficient of the lowest power comes first."""
    total = jnp.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + np.asarray(coefficient, x.dtype)
    return total


def by_halves(coefficients: Sequence[float], x: Array) -> Array:
    r"""$\sum_k c_k x^k$, even and odd powers apart, which processors compute side by side.

    Of more than a few coefficients it is faster than `horner` where a loop has nothing else to do
    meanwhile, and may differ from it in the last digit.
    """
    square = x * x
    return horner(coefficients[::2], square) + x * horner(coefficients[1::2], square)
