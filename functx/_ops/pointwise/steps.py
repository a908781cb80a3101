"""Step functions."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayOnly, category, operator, Promote
from functx._core.numbers import bitwise_comparison as bitwise
from functx._core.numbers.bitwise_comparison import nonzero


__all__ = ["heaviside"]


@operator(promote=Promote.SAME, accepts=Accepts.REAL)
def heaviside(input: ArrayOnly, values: ArrayOnly) -> Array:
    """Step function of `input`: 0 below zero, 1 above it, and `values` at zero.

    NaN gives 0. The gradient for `input` is 0; that for `values` is 1 where `input` is zero
    (PyTorch has none).

    Shapes: `input` and `values` broadcast.
    Dtypes: both must have the same. Errors: TypeError for two dtypes, and for complex numbers.

    >>> functx.heaviside(jnp.asarray([-1.5, 0, 2], "float32"), jnp.asarray([0.5], "float32"))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    x, at_zero = jnp.broadcast_arrays(input, values)
    step = x if category(x.dtype) == 0 else bitwise.positive(x).astype(x.dtype)
    return jnp.where(nonzero(x), step, at_zero)
