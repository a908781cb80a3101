"""Which singular values and eigenvalues count as zero."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category, describe, refuse


def tolerance(x: Any, name: str, dtype: Any) -> Array:
    """A tolerance as a constant of `dtype`; 0 for None."""
    x = jnp.asarray(0.0 if x is None else x)
    if category(x.dtype) == 3:
        refuse(f"`{name}` must be real, got {describe(x)}")
    return lax.convert_element_type(lax.stop_gradient(x), dtype)


def tolerances(A: Array, atol: Any, rtol: Any) -> tuple[Array, Array]:
    """Both tolerances: by default 0 and `max(m, n) * eps`, or 0 where `atol` is greater than 0."""
    real = jnp.finfo(A.dtype).dtype
    absolute = tolerance(atol, "atol", real)
    if rtol is None:
        default = max(A.shape[-2:]) * float(jnp.finfo(real).eps)
        return absolute, jnp.where(absolute > 0, 0, jnp.asarray(default, real))
    return absolute, tolerance(rtol, "rtol", real)


def not_negligible(sizes: Array, atol: Array, rtol: Array) -> Array:
    """Which of the `sizes: [..., k]` exceed both tolerances, the relative one of the largest."""
    largest = jnp.max(sizes, -1, keepdims=True)
    return sizes > jnp.maximum(atol[..., None], rtol[..., None] * largest)
