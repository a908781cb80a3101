"""The error function, and the gamma function's logarithm and its derivatives."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, operator, Promote
from functx._core.rules import derivative_rules

from .log_gamma import log_gamma
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
    log_gamma,
    jvp=lambda primals, output, tangents: tangents[0] * _digamma(primals[0]),
    name="lgamma",
)
