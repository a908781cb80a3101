"""Common divisors and multiples of integers."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayOnly,
    available,
    category,
    equally_varying,
    operator,
    platform_dependent,
    refuse,
)


__all__ = ["gcd", "lcm"]

_LARGEST = 2**50


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
    return platform_dependent(x, y, cpu=_by_floats, default=_by_integers)


def _by_floats(x: Array, y: Array) -> Array:
    """`_by_integers`, but in floating point where all products and differences are exact there.

    Processors divide floating numbers by vectors, and integers one by one. A whole number near the
    quotient is as good as the quotient; the nearest leaves the least.
    """
    wide = np.dtype("float32" if x.dtype.itemsize <= 2 else "float64")
    if available(wide) != wide:
        return _by_integers(x, y)
    exact = _is_exact(x) & _is_exact(y)
    rest = _by_integers(*(jnp.where(exact, 0, z) for z in (x, y)))
    remainder = lambda x, y: x - jnp.round(x / jnp.where(y == 0, 1, y)) * y
    found = _euclid(remainder, *(jnp.where(exact, z, 0).astype(wide) for z in (x, y)))
    return jnp.where(exact, lax.abs(found).astype(x.dtype), rest)


def _is_exact(x: Array) -> Array:
    """Whether integers are at most 2^50 in size, and not the least, of which there is no size."""
    ends = np.iinfo(x.dtype)
    low, high = max(int(ends.min) + 1, -_LARGEST), min(int(ends.max), _LARGEST)
    return (x >= x.dtype.type(low)) & (x <= x.dtype.type(high))


def _by_integers(x: Array, y: Array) -> Array:
    divisor = _euclid(lax.rem, x, y)
    return divisor if divisor.dtype.kind == "u" else lax.abs(divisor)


def _euclid(remainder: Callable[[Array, Array], Array], x: Array, y: Array) -> Array:
    def step(state: tuple[Array, Array]) -> tuple[Array, Array]:
        x, y = state
        left = y != 0  # `where` of no elements is its first choice, which must vary as the state
        return jnp.where(left, y, x), jnp.where(left, remainder(x, y), 0)

    start = tuple(equally_varying([x, y]))
    return lax.while_loop(lambda state: (state[1] != 0).any(), step, start)[0]
