"""Common divisors and multiples of integers."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    category,
    equally_varying,
    operator,
    refuse,
)


__all__ = ["gcd", "lcm"]


@operator(accepts=Accepts.INTEGRAL, differentiable=False)
def gcd(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Greatest common divisor of the integers `input` and `other`; $\gcd(0, 0) = 0$.

    It is not negative, unless it is the magnitude of the least integer, which wraps.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for bools alone, and for floating and complex numbers.

    >>> functx.gcd(jnp.asarray([12, -8, 0], "int32"), jnp.asarray([18, 6, 5], "int32"))
    Array([6, 2, 5], dtype=int32)
    """
    return _divisor(*_integers(input, other))


@operator(accepts=Accepts.INTEGRAL, differentiable=False)
def lcm(input: ArrayOnly, other: ArrayOnly) -> Array:
    """Least common multiple of the integers `input` and `other`; 0 where either is 0.

    It is not negative, unless it exceeds the range of the dtype: then it wraps.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for bools alone, and for floating and complex numbers.

    >>> functx.lcm(jnp.asarray([4, -6, 0], "int32"), jnp.asarray([6, 4, 5], "int32"))
    Array([12, 12,  0], dtype=int32)
    """
    x, y = _integers(input, other)
    dtype = x.dtype
    if dtype.itemsize < 4:  # int32 holds products of narrow integers, which wrap after `abs`
        x, y = x.astype(np.int32), y.astype(np.int32)
    divisor = _divisor(x, y)
    product = lax.div(x, jnp.where(divisor == 0, 1, divisor)) * y
    return lax.abs(product).astype(dtype)


def _integers(input: Array, other: Array) -> list[Array]:
    if category(input.dtype) == 0:
        refuse("expected integers, got bools alone", error=TypeError)
    return jnp.broadcast_arrays(input, other)


def _divisor(x: Array, y: Array) -> Array:
    """Greatest common divisor of integers of any signs, by Euclid's algorithm."""

    def step(state: tuple[Array, Array]) -> tuple[Array, Array]:
        x, y = state
        left = y != 0  # `where` of no elements is its first choice, which must vary as the state
        return jnp.where(left, y, x), jnp.where(left, lax.rem(x, y), 0)

    start = tuple(equally_varying([x, y]))
    divisor, _ = lax.while_loop(lambda state: (state[1] != 0).any(), step, start)
    return divisor if divisor.dtype.kind == "u" else lax.abs(divisor)
