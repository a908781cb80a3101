"""The tolerances below which singular values and eigenvalues count as zero."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax
from jax.core import max_dim

from functx._core import as_number, category, describe, known, refuse


def tolerance(x: Any, name: str, dtype: Any) -> Array:
    """A tolerance as a constant of `dtype`; 0 for None."""
    x = jnp.asarray(0.0 if x is None else x)
    if category(x.dtype) == 3:
        refuse(f"`{name}` must be real, got {describe(x)}")
    return lax.convert_element_type(lax.stop_gradient(x), dtype)


def tolerances(A: Array, atol: Any, rtol: Any) -> tuple[Array, Array]:
    """Both tolerances: by default 0 and `max(m, n) * eps`, or 0 where `atol` is greater than 0."""
    absolute = tolerance(atol, "atol", jnp.finfo(A.dtype).dtype)
    if rtol is None:
        return absolute, jnp.where(absolute > 0, 0, default_relative(A))
    return absolute, tolerance(rtol, "rtol", absolute.dtype)


def default_relative(A: Array) -> Array:
    """`max(m, n) * eps`."""
    real = jnp.finfo(A.dtype)
    size = max_dim(*A.shape[-2:])
    if known(size):
        return jnp.asarray(size * float(real.eps), real.dtype)
    return as_number(size, real.dtype) * real.eps


def not_negligible(sizes: Array, atol: Array, rtol: Array) -> Array:
    """A mask of the `sizes: [..., k]` above `atol` and above `rtol` times the largest size."""
    largest = jnp.max(sizes, -1, keepdims=True)
    return sizes > jnp.maximum(atol[..., None], rtol[..., None] * largest)
