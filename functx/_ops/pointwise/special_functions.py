"""The error function, and the gamma function's logarithm and its derivatives."""

from __future__ import annotations

import functools as ft

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, operator, Promote
from functx._core.rules import derivative_rules

from .trigamma import trigamma_above_zero


__all__ = ["digamma", "erf", "lgamma"]


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL, aliases=("special.erf",))
def erf(input: ArrayLike) -> Array:
    r"""Error function of each element, $\tfrac{2}{\sqrt\pi} \int_0^{x_i} e^{-t^2} dt$.

    >>> functx.erf(jnp.asarray([0.0, jnp.inf], "float32"))
    Array([0., 1.], dtype=float32)
    """
    return lax.erf(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL, aliases=("special.gammaln",))
def lgamma(input: ArrayLike) -> Array:
    r"""Logarithm of the absolute gamma function, $\ln |\Gamma(x_i)|$.

    >>> functx.lgamma(jnp.asarray([1.0, 4.0], "float32")).round(3)
    Array([0.   , 1.792], dtype=float32)
    """
    return _lgamma(input)


@operator(
    promote=Promote.INT_TO_FLOAT,
    accepts=Accepts.REAL,
    aliases=("special.digamma", "special.psi"),
)
def digamma(input: ArrayLike) -> Array:
    r"""Derivative of `lgamma`: $\psi(x_i) = \Gamma'(x_i) / \Gamma(x_i)$.

    At zero it is $-\infty$ ($+\infty$ at -0.0), at negative integers NaN.

    >>> functx.digamma(jnp.asarray([1.0, 2.0], "float32")).round(3)
    Array([-0.577,  0.423], dtype=float32)
    """
    return _digamma(input)


# $\ln\Gamma(x) / ((x - 1)(x - 2))$ for $x = 1.5 + 0.75 t$: Chebyshev's interpolant by powers of
# $t$, to 6e-9 and 1e-17 of itself.
_BETWEEN_ZEROS = {
    "float32": (
        *(0.4831289505409809, -0.10946989382473737, 0.0353876498426427, -0.013209048995144915),
        *(0.00531507533935001, -0.0022306218686170506, 0.0009664645978678627),
        *(-0.00044898268626045315, 0.00020204511236401903, -5.59597486716342e-05),
        *(2.5234458948475702e-05, -4.026855213737135e-05, 1.8844908845179116e-05),
    ),
    "float64": (
        *(0.4831289505409809, -0.10946992193572956, 0.035387663104443884, -0.013208268164489553),
        *(0.00531470698870234, -0.0022367443895923225, 0.000969352484410798),
        *(-0.00042876013313814405, 0.0001925087160275418, -8.74296837559824e-05),
        *(4.006851011253995e-05, -1.849887626610331e-05, 8.592094885571338e-06),
        *(-4.011994011652236e-06, 1.8853502443473198e-06, -8.878073028774609e-07),
        *(4.1072526490481494e-07, -1.9456567262455974e-07, 1.0757320428189458e-07),
        *(-5.137125986295283e-08, 6.244339326768499e-09, -2.8793813341682627e-09),
        *(1.6574338372855114e-08, -8.020717326231855e-09, -4.398658414361228e-09),
        *(2.139468423779617e-09, 1.6096107606990072e-09, -7.803891233365677e-10),
    ),
}


def _lgamma_forward(x: Array) -> Array:
    # Near its zeros, lax.lgamma has as many digits as the terms of its sum.
    near, below, above = (x > 0) & (x < 3.25), x < 0.75, x > 2.25
    base = jnp.where(below, x + 1, jnp.where(above, x - 1, x))
    step = jnp.log(jnp.where(below, x, jnp.where(above, base, 1)))
    t = (jnp.where(near, base, 1.5) - 1.5) / 0.75
    coefficients = [np.asarray(c, x.dtype) for c in _BETWEEN_ZEROS[x.dtype.name]]
    ratio = ft.reduce(lambda total, c: total * t + c, reversed(coefficients), jnp.zeros_like(t))
    between = (base - 1) * (base - 2) * ratio
    return jnp.where(near, jnp.where(below, between - step, between + step), lax.lgamma(x))


def _digamma_forward(x: Array) -> Array:
    return jnp.where(x == 0, jnp.copysign(jnp.inf, -x).astype(x.dtype), lax.digamma(x))


def _trigamma(x: Array) -> Array:
    # lax.polygamma is wrong below zero: by reflection, which JAX can differentiate further.
    below = x < 0.5
    infinite = jnp.isinf(x)
    right = jnp.where(infinite, 1, jnp.where(below, 1 - x, x))
    near = x - lax.stop_gradient(jnp.round(x))  # sin has few digits far from zero
    sine = jnp.sin(jnp.pi * jnp.where(below, near, 0.5))
    summed = trigamma_above_zero(right)
    mirrored = (jnp.pi / sine) ** 2 - summed
    out = jnp.where(below, mirrored, summed)
    return jnp.where(infinite, jnp.where(x > 0, 0, jnp.nan), out)


_digamma = derivative_rules(
    _digamma_forward,
    jvp=lambda primals, output, tangents: tangents[0] * _trigamma(primals[0]),
    name="digamma",
)

_lgamma = derivative_rules(
    _lgamma_forward,
    jvp=lambda primals, output, tangents: tangents[0] * _digamma(primals[0]),
    name="lgamma",
)
