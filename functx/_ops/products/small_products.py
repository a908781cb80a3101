"""Products of many small matrices, which XLA for CPUs multiplies by a call for each of them."""

from __future__ import annotations

import math

from jax import Array, lax

from functx._core import known, platform_dependent
from functx._core.rules.custom_derivatives import derivative_rules


# From 64 multiplications on, XLA takes 0.4 to 1 us for each product. Fewer cost it a little more
# than sums of columns times rows do, and from 8 x 8 x 8 on it is as fast.
_LEAST, _MOST, _LONGEST = 27, 400, 8
_MANY = 64


def many_small(left: Array, right: Array) -> bool:
    """Whether `[*b, m, k]` and `[*b, k, n]` are so many and so small that XLA takes long."""
    if left.ndim < 3 or left.dtype not in ("float32", "float64"):
        return False
    if not known(*left.shape, *right.shape) or left.shape[:-2] != right.shape[:-2]:
        return False
    m, k, n = *left.shape[-2:], right.shape[-1]
    few = max(m, k, n) <= _LONGEST and _LEAST <= m * k * n <= _MOST
    return few and math.prod(left.shape[:-2]) >= _MANY


def small_products(left: Array, right: Array) -> Array:
    """The products of the matrices `[*b, m, k]` and `[*b, k, n]`."""
    return _product(left, right)


def _forward(left: Array, right: Array) -> Array:
    return platform_dependent(left, right, cpu=_by_columns, default=_by_dot)


def _by_columns(left: Array, right: Array) -> Array:
    """The sum of each column of `left` times the same row of `right`."""
    total = left[..., :, 0, None] * right[..., None, 0, :]
    for k in range(1, left.shape[-1]):
        total = total + left[..., :, k, None] * right[..., None, k, :]
    return total


def _by_dot(left: Array, right: Array) -> Array:
    batch = tuple(range(left.ndim - 2))
    inner = (left.ndim - 1,), (left.ndim - 2,)
    return lax.dot_general(left, right, (inner, (batch, batch)))


_product = derivative_rules(
    _forward,
    jvp=lambda primals, output, tangents: (
        _product(tangents[0], primals[1]) + _product(primals[0], tangents[1])
    ),
    vjp=lambda primals, output, cotangent: (
        _product(cotangent, primals[1].mT),
        _product(primals[0].mT, cotangent),
    ),
    name="matmul",
)
