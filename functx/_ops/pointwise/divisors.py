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
    r"""Greatest common divisor of integers, not negative, broadcasting. $\gcd(0, 0) = 0$.

    Dtypes: promotes to the common dtype, which must not be bool. Where it is the size of the
    least integer, which the dtype does not hold, it wraps.

    >>> functx.gcd(jnp.asarray([12, -8, 0], "int32"), jnp.asarray([18, 6, 5], "int32"))
    Array([6, 2, 5], dtype=int32)
    """
    return _divisor(*_integers(input, other))


@operator(accepts=Accepts.INTEGRAL, differentiable=False)
def lcm(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Least common multiple of integers, not negative, broadcasting; 0 where either is 0.

    Dtypes: promotes to the common dtype, which must not be bool. A multiple that it does not
    hold wraps.

    >>> functx.lcm(jnp.asarray([4, -6, 0], "int32"), jnp.asarray([6, 4, 5], "int32"))
    Array([12, 12,  0], dtype=int32)
    """
    x, y = _integers(input, other)
    dtype = x.dtype
    if dtype.itemsize < 4:  # products of narrow ones are exact, and wrap once they are positive
        x, y = x.astype(np.int32), y.astype(np.int32)
    divisor = _divisor(x, y)
    product = lax.div(x, jnp.where(divisor == 0, 1, divisor)) * y
    return lax.abs(product).astype(dtype)


def _integers(input: Array, other: Array) -> list[Array]:
    if category(input.dtype) == 0:
        refuse("expected integers, got bools alone", error=TypeError)
    return jnp.broadcast_arrays(input, other)


def _divisor(x: Array, y: Array) -> Array:
    """By Euclid's algorithm, on numbers of any signs."""

    def step(state: tuple[Array, Array]) -> tuple[Array, Array]:
        x, y = state
        left = y != 0  # of no elements `where` is its first choice, which must vary as the state
        return jnp.where(left, y, x), jnp.where(left, lax.rem(x, y), 0)

    start = tuple(equally_varying([x, y]))
    divisor, _ = lax.while_loop(lambda state: (state[1] != 0).any(), step, start)
    return divisor if divisor.dtype.kind == "u" else lax.abs(divisor)
