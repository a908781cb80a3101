"""The larger and the smaller of two elements, with PyTorch's gradients."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import category
from functx._core.numbers import bitwise_comparison as bitwise
from functx._core.rules.custom_derivatives import derivative_rules


def larger(x: Array, y: Array) -> Array:
    """Of each two elements the larger, NaN if either is; of one shape and dtype."""
    return (_larger if category(x.dtype) == 2 else bitwise.larger)(x, y)


def smaller(x: Array, y: Array) -> Array:
    """Of each two elements the smaller, NaN if either is; of one shape and dtype."""
    return (_smaller if category(x.dtype) == 2 else bitwise.smaller)(x, y)


def _split(x: Array, y: Array, below: Array) -> Array:
    """The share of `x`: none where it loses, half where it ties, all where it wins or is NaN."""
    return jnp.where(below, 0, jnp.where(bitwise.equal(x, y), 0.5, 1)).astype(x.dtype)


_larger = derivative_rules(
    bitwise.larger,
    jvp=lambda p, output, t: (
        t[0] * _split(p[0], p[1], bitwise.less(p[0], p[1]))
        + t[1] * _split(p[1], p[0], bitwise.less(p[1], p[0]))
    ),
    name="maximum",
)
_smaller = derivative_rules(
    bitwise.smaller,
    jvp=lambda p, output, t: (
        t[0] * _split(p[0], p[1], bitwise.less(p[1], p[0]))
        + t[1] * _split(p[1], p[0], bitwise.less(p[0], p[1]))
    ),
    name="minimum",
)
