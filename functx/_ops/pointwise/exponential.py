"""Exponentials and logarithms."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    Autocast,
    category,
    operator,
    Promote,
    refuse,
)
from functx._core.rules import derivative_rules
from functx._ops.quotients import quotient


__all__ = ["exp", "log", "log1p", "logaddexp", "sigmoid", "xlogy"]


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32)
def exp(input: ArrayLike) -> Array:
    r"""Exponential of each element, $e^{x_i}$.

    >>> functx.exp(jnp.zeros(2, "int32"))
    Array([1., 1.], dtype=float32)
    """
    return lax.exp(input)


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32)
def log(input: ArrayLike) -> Array:
    r"""Natural logarithm of each element, $\ln x_i$; NaN below zero.

    >>> functx.log(jnp.asarray([1.0, 2.0], "float32")).round(3)
    Array([0.   , 0.693], dtype=float32)
    """
    return lax.log(input)


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, aliases=("special.log1p",))
def log1p(input: ArrayLike) -> Array:
    r"""Natural logarithm of one plus each element, $\ln(1 + x_i)$, exact for small ones.

    >>> functx.log1p(jnp.asarray([0.0, 1e-8], "float32"))
    Array([0.e+00, 1.e-08], dtype=float32)
    """
    return lax.log1p(input)


@operator(promote=Promote.INT_TO_FLOAT, aliases=("nn.functional.sigmoid", "special.expit"))
def sigmoid(input: ArrayLike) -> Array:
    r"""Logistic function of each element, $1 / (1 + e^{-x_i})$.

    >>> functx.sigmoid(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([0.5  , 0.731], dtype=float32)
    """
    return lax.logistic(input)


@operator(accepts=Accepts.ANY)
def logaddexp(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Logarithm of a sum of exponentials, $\ln(e^x + e^{\mathrm{other}})$, broadcasting.

    Dtypes: promotes to the common dtype, which must be floating or complex. Where both are
    the same infinity, the gradient goes to `input`.

    >>> functx.logaddexp(jnp.zeros(2, "float32"), jnp.zeros(2, "float32")).round(3)
    Array([0.693, 0.693], dtype=float32)
    """
    if category(input.dtype) < 2:
        refuse(f"expected a floating common dtype, got {input.dtype.name}", error=TypeError)
    x, y = jnp.broadcast_arrays(input, other)
    first = lax.real(x) >= lax.real(y) if category(x.dtype) == 3 else x >= y
    high, low = jnp.where(first, x, y), jnp.where(first, y, x)
    # Swapping is smooth where they are equal: every derivative is right there, unlike |x - y|'s.
    gap = jnp.where((x == y) & jnp.isinf(x), 0, low - high)
    return high + lax.log1p(lax.exp(gap))


@operator(
    promote=Promote.INT_TO_FLOAT,
    accepts=Accepts.REAL,
    one_array=True,
    aliases=("special.xlogy",),
)
def xlogy(input: ArrayLike, other: ArrayLike) -> Array:
    r"""Product with a logarithm, $x \ln \mathrm{other}$, and 0 where $x = 0$, broadcasting.

    Where $x = 0$ and $\mathrm{other} \le 0$ both gradients are 0 (in PyTorch, at the origin one
    is NaN). NaN in `other` stays NaN.

    >>> functx.xlogy(jnp.asarray([0.0, 2.0], "float32"), jnp.asarray([0.0, 1.0], "float32"))
    Array([0., 0.], dtype=float32)
    """
    return _xlogy(*jnp.broadcast_arrays(input, other))


def _product(x: Array, y: Array) -> Array:
    return jnp.where((x == 0) & (y == y), 0, x * lax.log(y))


def _xlogy_vjp(primals: Any, output: Array, cotangent: Array) -> tuple[Array, Array]:
    x, y = primals
    dead = (x == 0) & (y <= 0)
    safe = jnp.where(dead, 1, y)
    return (
        jnp.where(dead, 0, cotangent * lax.log(safe)),
        jnp.where(dead, 0, cotangent * quotient(x, safe)),
    )


_xlogy = derivative_rules(_product, vjp=_xlogy_vjp, name="xlogy")
