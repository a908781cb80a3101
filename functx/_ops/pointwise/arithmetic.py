"""Arithmetic on two broadcastable arrays."""

from __future__ import annotations

from jax import Array

from functx._core import ArrayLike, operator, Scalar


__all__ = ["add"]


@operator()
def add(input: ArrayLike, other: ArrayLike, *, alpha: Scalar = 1) -> Array:
    r"""Adds `other`, scaled: $y = x + \alpha \cdot \mathrm{other}$, broadcasting.

    Dtypes: promotes to the common dtype; `alpha` takes no part in it.

    >>> functx.add(jnp.asarray([1, 2]), 0.5, alpha=2)
    Array([2., 3.], dtype=float32)
    """
    return input + alpha * other
