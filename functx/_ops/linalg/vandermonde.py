"""The matrix of powers that evaluates polynomials at given points."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayOnly, operator, Promote, refuse
from functx._ops.creation.powers import powers_of


__all__ = ["vander"]


@operator(promote=Promote.INT_TO_LONG, accepts=Accepts.NUMBER)
def vander(x: ArrayOnly, *, N: int | None = None) -> Array:
    r"""Vandermonde matrix, $y_{ij} = x_i^j$, of each vector in a batch.

    - `N`: how many powers, at least 2; by default as many as elements.

    Shapes: `[..., n] -> [..., n, N]`; a 0-d array is a vector of 1. Dtypes: int64 for integers.
    Derivatives are those of products, exact at 0.

    >>> functx.linalg.vander(jnp.asarray([2.0, 3.0], "float32"), N=3)
    Array([[1., 2., 4.],
           [1., 3., 9.]], dtype=float32)
    """
    x = jnp.atleast_1d(x)
    count = x.shape[-1] if N is None else N
    if count < 2:
        refuse(f"`N` must be at least 2, got {count}")
    return powers_of(x, count)
