"""Affine maps of the last dimension. Sums of float16 and bfloat16 are computed in float32."""

from __future__ import annotations

from jax import Array, lax

from functx._core import accumulator


def mapped(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """$x W^T + b$ in the dtype of sums: `x: [..., n]` and `weight: [m, n]` give `[..., m]`,
    `weight: [n]` gives `[...]`.
    """
    last = ((x.ndim - 1,), (weight.ndim - 1,))
    wide = accumulator(x.dtype)
    out = lax.dot_general(x, weight, (last, ((), ())), preferred_element_type=wide)
    return out if bias is None else out + bias.astype(wide)
