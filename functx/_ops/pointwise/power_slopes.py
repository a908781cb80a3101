"""Powers of floating and complex numbers, with their slopes at zero bases and exponents."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category, platform_dependent
from functx._core.rules.custom_derivatives import derivative_rules

from .exponentiation import power


def raised(x: Array, y: Array) -> Array:
    r"""$x^y$ of arrays of one dtype and of one shape, unless `y` is 0-d.

    Where $x = 0$ the slope in $y$ is 0, or $-\infty$ if $y < 0$. Where $y = 0$ the slope in $x$ is
    0, at $x = 0$ and at NaN too.
    """
    return _raised(x, y)


def _slope_in_base(x: Array, y: Array) -> Array:
    # Only the bases 0 and NaN need a choice: elsewhere the factor y = 0 makes the slope vanish.
    flat = (y == 0) & ((x == 0) | (x != x))
    return jnp.where(flat, 0, y * _raised(jnp.where(flat, 1, x), y - 1))


def _slope_in_exponent(x: Array, y: Array) -> Array:
    if category(x.dtype) == 3:
        growing = (lax.real(y) > 0) | (y == 0)
    else:
        growing = y >= 0
    flat = (x == 0) & growing
    base = jnp.where(flat, 1, x)
    return jnp.where(flat, 0, _raised(base, y) * lax.log(base))


def _forward(x: Array, y: Array) -> Array:
    if y.ndim > 0 or x.ndim == 0 or category(x.dtype) == 3:
        return power(*jnp.broadcast_arrays(x, y))
    # One exponent for all: on CPUs, a product is 20 times quicker than the general power.
    return platform_dependent(x, y, cpu=_by_cases, default=_general)


def _general(x: Array, y: Array) -> Array:
    return power(x, jnp.broadcast_to(y, x.shape))


def _by_cases(x: Array, y: Array) -> Array:
    case = jnp.where(y == 1, 1, jnp.where(y == 2, 2, jnp.where(y == 3, 3, 0)))
    powers = [_general, lambda x, y: x, lambda x, y: x * x, lambda x, y: x * x * x]
    return lax.switch(case, powers, x, y)


def _reverse(primals: tuple[Array, Array], output: Array, cotangent: Array) -> tuple[Array, Array]:
    in_exponent = cotangent * _slope_in_exponent(*primals)
    if primals[1].ndim < in_exponent.ndim:
        in_exponent = in_exponent.sum()
    return cotangent * _slope_in_base(*primals), in_exponent


# lax.pow makes d/dx vanish wherever the exponent is 0, which spoils the mixed derivative 1/x.
_raised = derivative_rules(_forward, vjp=_reverse, name="pow")
