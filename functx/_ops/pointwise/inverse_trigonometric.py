"""Inverse trigonometric functions."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import ArrayLike, Autocast, category, operator, Promote
from functx._core.rules.custom_derivatives import derivative_rules

from .branch_cuts import other_leg, two_sided
from .direction import direction


__all__ = ["acos", "asin", "atan"]


def arc_sine(x: Array) -> Array:
    r"""$\arcsin x$ of floating or complex numbers."""
    return _sine(x)


def arc_cosine(x: Array) -> Array:
    r"""$\arccos x$ of floating or complex numbers."""
    return _cosine(x)


def arc_tangent(x: Array) -> Array:
    r"""$\arctan x$ of floating or complex numbers."""
    return _tangent(x)


def _sine_forward(x: Array) -> Array:
    if category(x.dtype) == 3:
        return two_sided(lax.asin, x)
    return jnp.where(x == 0, x, direction(x, other_leg(x)))  # keeps -0.0 and subnormals


def _cosine_forward(x: Array) -> Array:
    if category(x.dtype) == 3:
        return two_sided(lax.acos, x)
    return direction(other_leg(x), x)


def _tangent_forward(x: Array) -> Array:
    if category(x.dtype) == 3:
        out = lax.atan(x)  # far from 0 it forgets the sign of a zero
        return lax.complex(jnp.copysign(lax.real(out), lax.real(x)), lax.imag(out))
    return jnp.where(x == 0, x, direction(x, jnp.ones_like(x)))


# The slope $s$ of the inverse sine has the derivative $x s^3$, which is infinite where $s$ is.
_slope = derivative_rules(
    lambda x: 1 / other_leg(x),
    jvp=lambda primals, output, tangents: tangents[0] * (primals[0] * output) * output * output,
    name="asin",
)
_sine = derivative_rules(
    _sine_forward,
    jvp=lambda primals, output, tangents: tangents[0] * _slope(primals[0]),
    name="asin",
)
_cosine = derivative_rules(
    _cosine_forward,
    jvp=lambda primals, output, tangents: -tangents[0] * _slope(primals[0]),
    name="acos",
)
# The slope $s$ of the inverse tangent has the derivative $-2 x s^2$; no factor leaves the range.
_tangent_slope = derivative_rules(
    lambda x: 1 / (1 + x * x),
    jvp=lambda primals, output, tangents: tangents[0] * (-2 * (primals[0] * output) * output),
    name="atan",
)
_tangent = derivative_rules(
    _tangent_forward,
    jvp=lambda primals, output, tangents: tangents[0] * _tangent_slope(primals[0]),
    name="atan",
    of="primals",
)


@operator(
    promote=Promote.INT_TO_FLOAT,
    aliases=("arccos",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def acos(input: ArrayLike) -> Array:
    r"""Inverse cosine of each element of `input`, in radians in $[0, \pi]$.

    Real numbers outside of $[-1, 1]$ give NaN. The branch cuts are $(-\infty, -1]$ and
    $[1, \infty)$, where the sign of the imaginary part, also of a zero, decides. That sign decides
    on gradients too (not in PyTorch).

    Dtypes: bools and integers give the default dtype.

    >>> functx.acos(jnp.asarray([1.0, 0.0, -1.0], "float32"))
    Array([0.       , 1.5707964, 3.1415927], dtype=float32)
    """
    return arc_cosine(input)


@operator(
    promote=Promote.INT_TO_FLOAT,
    aliases=("arcsin",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def asin(input: ArrayLike) -> Array:
    r"""Inverse sine of each element of `input`, in radians in $[-\pi/2, \pi/2]$.

    Real numbers outside of $[-1, 1]$ give NaN. The branch cuts are $(-\infty, -1]$ and
    $[1, \infty)$, where the sign of the imaginary part, also of a zero, decides. That sign decides
    on gradients too (not in PyTorch).

    Dtypes: bools and integers give the default dtype.

    >>> functx.asin(jnp.asarray([0.0, 1.0, 2.0], "float32"))
    Array([0.       , 1.5707964,       nan], dtype=float32)
    """
    return arc_sine(input)


@operator(promote=Promote.INT_TO_FLOAT, aliases=("arctan",))
def atan(input: ArrayLike) -> Array:
    r"""Inverse tangent of each element of `input`, in radians in $[-\pi/2, \pi/2]$.

    The branch cuts are $(-i\infty, -i]$ and $[i, i\infty)$, where the sign of the real part, also
    of a zero, decides.

    Dtypes: bools and integers give the default dtype.

    >>> functx.atan(jnp.asarray([0.0, 1.0, jnp.inf], "float32"))
    Array([0.       , 0.7853982, 1.5707964], dtype=float32)
    """
    return arc_tangent(input)
