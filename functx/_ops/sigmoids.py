r"""The logistic function and the hyperbolic tangent, whose derivatives keep their digits far out.

There the result is 1, and a derivative that is made of it, $y (1 - y)$ or $1 - y^2$, is 0 long
before the true one leaves the range. These are made of the argument.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category
from functx._core.rules.custom_derivatives import derivative_rules


def sigmoid(x: Array) -> Array:
    r"""$\sigma(x) = 1 / (1 + e^{-x})$ of floating or complex numbers."""
    return _sigmoid(x)


def sigmoid_beside_slope(x: Array) -> Array:
    r"""The same, made of the power that the slope is made of, which compilers then take once."""
    return _sigmoid_beside_slope(x)


def hyperbolic_tangent(x: Array) -> Array:
    r"""$\tanh x$ of floating or complex numbers."""
    return _tanh(x)


def _slope_forward(x: Array) -> Array:
    r"""$\sigma(x)\,\sigma(-x)$, which is even."""
    if category(x.dtype) == 3:
        return _complex_slope(x)
    power, inverse = _parts(x)
    return (power * inverse) * inverse


def _forward_beside_slope(x: Array) -> Array:
    if category(x.dtype) == 3:
        return lax.logistic(x)
    power, inverse = _parts(x)
    return jnp.where(x < 0, power * inverse, inverse)


def _parts(x: Array) -> tuple[Array, Array]:
    power = jnp.exp(-jnp.abs(x))
    return power, 1 / (1 + power)


def _complex_slope(z: Array) -> Array:
    # Near the poles, which lie on the imaginary axis, the result is what has the digits.
    near = jnp.abs(lax.real(z)) < 1
    share = lax.logistic(jnp.where(near, z, 0))
    power = jnp.exp(jnp.where(near, 0, jnp.where(lax.real(z) < 0, z, -z)))
    inverse = 1 / (1 + power)
    return jnp.where(near, share * (1 - share), (power * inverse) * inverse)


# Of $\sigma'' = \sigma' (1 - 2 \sigma)$ the second factor cancels about 0.
_slope = derivative_rules(
    _slope_forward,
    jvp=lambda primals, output, tangents: -tangents[0] * (output * _tanh(0.5 * primals[0])),
    name="sigmoid",
)
_sigmoid, _sigmoid_beside_slope = (
    derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: tangents[0] * _slope(primals[0]),
        name="sigmoid",
        of="primals",
    )
    for forward in (lax.logistic, _forward_beside_slope)
)
_tanh = derivative_rules(
    lax.tanh,
    jvp=lambda primals, output, tangents: tangents[0] * (4 * _slope(2 * primals[0])),
    name="tanh",
    of="primals",
)
