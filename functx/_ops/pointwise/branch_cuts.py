"""Functions of complex numbers on both sides of their branch cuts along the real axis.

XLA takes an imaginary part of -0.0 for 0.0, and so gives the value on the other side of the cut.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category


def two_sided(function: Callable[[Array], Array], z: Array) -> Array:
    """`function(z)`, also right at imaginary parts of -0.0, if it maps conjugates to conjugates."""
    below = jnp.signbit(lax.imag(z)) & (lax.imag(z) == 0)
    out = function(jnp.where(below, lax.conj(z), z))
    return jnp.where(below, lax.conj(out), out)


def square_root(x: Array) -> Array:
    """Square root of floating or complex `x`; the real part of a complex root is not negative."""
    return lax.sqrt(x) if category(x.dtype) < 3 else two_sided(lax.sqrt, x)


def other_leg(x: Array) -> Array:
    r"""$\sqrt{1 - x^2}$ of floating or complex numbers, without loss of digits near 1."""
    if category(x.dtype) < 3:
        return lax.sqrt((1 - x) * (1 + x))
    # Each zero in an imaginary part keeps its sign, which decides on the cut.
    below = lax.complex(1 - lax.real(x), -lax.imag(x))
    above = lax.complex(1 + lax.real(x), lax.imag(x))
    return square_root(below) * square_root(above)


def turned(z: Array) -> Array:
    """$i z$, in which zeros keep their signs."""
    return lax.complex(-lax.imag(z), lax.real(z))
