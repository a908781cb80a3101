"""The matrix of powers that evaluates polynomials at given points."""

from __future__ import annotations

from jax import Array, lax

from functx._core import (
    ArrayOnly,
    describe,
    known,
    operator,
    Promote,
    refuse,
)

from .powers import powers_of


__all__ = ["vander"]


@operator(promote=Promote.INT_TO_LONG)
def vander(x: ArrayOnly, N: int | None = None, increasing: bool = False) -> Array:
    """Vandermonde matrix of the numbers `x`: $y_{ij} = x_i^{N - 1 - j}$.

    - `N`: the number of powers, by default the number of elements.
    - `increasing`: whether the powers increase, $y_{ij} = x_i^j$.

    Shapes: `[n] -> [n, N]`. Dtypes: int64 for bools and integers.
    Errors: RuntimeError for an `x` without one dimension, and for a negative `N`. Derivatives are
    those of products, exact at 0 (PyTorch has none).

    >>> functx.vander(jnp.asarray([2.0, 3.0], "float32"), 3)
    Array([[4., 2., 1.],
           [9., 3., 1.]], dtype=float32)
    """
    if x.ndim != 1:
        refuse(f"`x` must have 1 dimension, got {describe(x)}")
    count = x.size if N is None else N
    if known(count) and count < 0:
        refuse(f"`N` must not be negative, got {N}")
    powers = powers_of(x, count)
    return powers if increasing else lax.rev(powers, [1])
