"""The matrix of powers that evaluates polynomials at given points."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayOnly, operator, Promote, refuse
from functx._ops.creation.powers import powers_of


__all__ = ["vander"]


@operator(promote=Promote.INT_TO_LONG, accepts=Accepts.NUMBER)
def vander(x: ArrayOnly, *, N: int | None = None) -> Array:
    """Vandermonde matrix of each vector: $y_{ij} = x_i^j$.

    - `x`: vectors of any dtype but bool; a 0-d array counts as `[1]`.
    - `N`: how many powers, at least 2; None is as many as elements.

    Shapes: `[..., n] -> [..., n, N]`.
    Dtypes: that of `x`, int64 for integers.
    Gradients: those of products, exact at 0.
    Errors: RuntimeError for an `N` below 2, TypeError for bools.

    >>> functx.linalg.vander(jnp.asarray([2.0, 3.0], "float32"), N=3)
    Array([[1., 2., 4.],
           [1., 3., 9.]], dtype=float32)
    """
    x = jnp.atleast_1d(x)
    count = x.shape[-1] if N is None else N
    if count < 2:
        refuse(f"`N` must be at least 2, got {count}")
    return powers_of(x, count)
