"""Inverse hyperbolic functions, of real and of complex numbers."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category
from functx._core.rules.custom_derivatives import derivative_rules

from .branch_cuts import other_leg, square_root, turned, two_sided


def area_sine(x: Array) -> Array:
    r"""$\operatorname{arsinh} x$ of floating or complex numbers."""
    return _sine(x)


def area_cosine(x: Array) -> Array:
    r"""$\operatorname{arcosh} x$ of floating or complex numbers."""
    return _cosine(x)


def area_tangent(x: Array) -> Array:
    r"""$\operatorname{artanh} x$ of floating or complex numbers."""
    return _tangent(x)


def _sine_forward(x: Array) -> Array:
    if category(x.dtype) == 3:
        out = two_sided(lax.asin, turned(x))
        return -turned(out)
    size = lax.abs(x)
    far = size > _far(x)
    near = jnp.where(far, 1, size)
    square = near * near
    above = lax.log1p(near + square / (1 + lax.sqrt(1 + square)))
    out = jnp.where(far, lax.log(size) + math.log(2), above)
    return jnp.where(x == 0, x, jnp.copysign(out, x))  # keeps -0.0 and subnormal numbers


def _cosine_forward(x: Array) -> Array:
    if category(x.dtype) == 3:
        return two_sided(lax.acosh, x)
    far = x > _far(x)
    above = jnp.where(far, 1, x) - 1
    near = lax.log1p(above + lax.sqrt(above * (above + 2)))
    return jnp.where(x < 1, jnp.nan, jnp.where(far, lax.log(x) + math.log(2), near))


def _far(x: Array) -> float:
    """The number from which on 1 is lost beside the square of `x` in its dtype."""
    return 2.0 ** (jnp.finfo(x.dtype).nmant // 2 + 2)


def _tangent_forward(x: Array) -> Array:
    if category(x.dtype) == 3:
        out = lax.atanh(x)  # far from 0 it forgets the sign of a zero
        return lax.complex(lax.real(out), jnp.copysign(lax.imag(out), lax.imag(x)))
    size = lax.abs(x)
    out = 0.5 * lax.log1p(2 * size / (1 - size))
    return jnp.where(x == 0, x, jnp.copysign(out, x))


def _sine_slope_forward(x: Array) -> Array:
    if category(x.dtype) < 3:
        far = lax.abs(x) > _far(x)
        near = jnp.where(far, 1, x)
        return jnp.where(far, 1 / lax.abs(x), lax.rsqrt(1 + near * near))
    return 1 / other_leg(turned(x))


def _cosine_slope_forward(x: Array) -> Array:
    if category(x.dtype) < 3:
        far = x > _far(x)
        near = jnp.where(far, 2, x)
        slope = lax.abs(lax.rsqrt((near - 1) * (near + 1)))  # the product may be -0.0
        return jnp.where(far, 1 / x, slope)
    below, above = (lax.complex(lax.real(x) + shift, lax.imag(x)) for shift in (-1, 1))
    return 1 / (square_root(below) * square_root(above))


# The slopes $s$ have the derivatives $-x s^3$, or $2 x s^2$, which are infinite where $s$ is. They
# are written as products because squares would leave the range.
_sine_slope = derivative_rules(
    _sine_slope_forward,
    jvp=lambda primals, output, tangents: -tangents[0] * (primals[0] * output) * output * output,
    name="asinh",
)
_cosine_slope = derivative_rules(
    _cosine_slope_forward,
    jvp=lambda primals, output, tangents: -tangents[0] * (primals[0] * output) * output * output,
    name="acosh",
)
_tangent_slope = derivative_rules(
    lambda x: 1 / ((1 - x) * (1 + x)),
    jvp=lambda primals, output, tangents: tangents[0] * 2 * (primals[0] * output) * output,
    name="atanh",
)

_sine = derivative_rules(
    _sine_forward,
    jvp=lambda primals, output, tangents: tangents[0] * _sine_slope(primals[0]),
    name="asinh",
)
_cosine = derivative_rules(
    _cosine_forward,
    jvp=lambda primals, output, tangents: tangents[0] * _cosine_slope(primals[0]),
    name="acosh",
)
_tangent = derivative_rules(
    _tangent_forward,
    jvp=lambda primals, output, tangents: tangents[0] * _tangent_slope(primals[0]),
    name="atanh",
)
