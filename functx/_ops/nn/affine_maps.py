"""Affine maps of the last dimension, with halves summed in float32."""

from __future__ import annotations

from jax import Array, lax

from functx._core import accumulator


def mapped(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """$x W^T + b$ in the dtype of sums: `[..., n]` and `[m, n]` give `[..., m]`, `[n]` `[...]`."""
    last = ((x.ndim - 1,), (weight.ndim - 1,))
    wide = accumulator(x.dtype)
    out = lax.dot_general(x, weight, (last, ((), ())), preferred_element_type=wide)
    return out if bias is None else out + bias.astype(wide)
