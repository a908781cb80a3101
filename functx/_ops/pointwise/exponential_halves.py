"""Hyperbolic sine and cosine: half the sum and difference of an exponential and its inverse."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category
from functx._core.rules.custom_derivatives import derivative_rules

from .circular import cosine, sine


def hyperbolic_sine(x: Array) -> Array:
    r"""$\sinh x$ of floating or complex numbers."""
    return _complex_sine(x) if category(x.dtype) == 3 else _sine(x)


def hyperbolic_cosine(x: Array) -> Array:
    r"""$\cosh x$ of floating or complex numbers."""
    return _complex_cosine(x) if category(x.dtype) == 3 else _cosine(x)


def _half_of_exponential(x: Array) -> Array:
    """$e^{|x|} / 2$, also where the exponential itself is infinite."""
    root = lax.exp(0.5 * lax.abs(x))
    return (0.5 * root) * root


def _sine_forward(x: Array) -> Array:
    # Below 1, the difference of exponentials would cancel.
    size = lax.abs(x)
    low = lax.expm1(jnp.where(size < 1, size, 1))
    half = _half_of_exponential(x)
    out = jnp.where(size < 1, 0.5 * (low + low / (low + 1)), half - 0.25 / half)
    return jnp.where(x == 0, x, jnp.copysign(out, x))  # keeps -0.0 and subnormal numbers


def _cosine_forward(x: Array) -> Array:
    half = _half_of_exponential(x)
    return half + 0.25 / half


_sine = derivative_rules(
    _sine_forward,
    jvp=lambda primals, output, tangents: tangents[0] * _cosine(primals[0]),
    name="sinh",
)
_cosine = derivative_rules(
    _cosine_forward,
    jvp=lambda primals, output, tangents: tangents[0] * _sine(primals[0]),
    name="cosh",
)


def _complex_sine_forward(z: Array) -> Array:
    x, y = lax.real(z), lax.imag(z)
    along = jnp.where(x == 0, x, _sine(x) * cosine(y))
    return lax.complex(along, jnp.where(y == 0, y, _cosine(x) * sine(y)))


def _complex_cosine_forward(z: Array) -> Array:
    x, y = lax.real(z), lax.imag(z)
    flat = jnp.where(jnp.signbit(x), -y, y)  # 0 also times an infinity
    return lax.complex(_cosine(x) * cosine(y), jnp.where(y == 0, flat, _sine(x) * sine(y)))


_complex_sine = derivative_rules(
    _complex_sine_forward,
    jvp=lambda primals, output, tangents: tangents[0] * _complex_cosine(primals[0]),
    name="sinh",
)
_complex_cosine = derivative_rules(
    _complex_cosine_forward,
    jvp=lambda primals, output, tangents: tangents[0] * _complex_sine(primals[0]),
    name="cosh",
)
