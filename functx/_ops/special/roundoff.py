"""What sums and products of float64 arrays lose to rounding, which are numbers themselves."""

from __future__ import annotations

from jax import Array


_HALVES = 2.0**27 + 1  # makes of a number one of its leading 26 bits (Dekker 1971)


def sum_error(x: Array, y: Array, total: Array) -> Array:
    """`x + y` less `total`, to which it is rounded (Knuth's)."""
    back = total - x
    return (x - (total - back)) + (y - back)


def product_error(x: Array, y: Array, product: Array) -> Array:
    """`x * y` less `product`, to which it is rounded (Dekker's)."""
    (high, low), (top, rest) = _split(x), _split(y)
    return ((high * top - product) + high * rest + low * top) + low * rest


def _split(x: Array) -> tuple[Array, Array]:
    scaled = x * _HALVES
    high = scaled - (scaled - x)
    return high, x - high
