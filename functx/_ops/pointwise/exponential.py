"""Exponentials and logarithms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    Autocast,
    category,
    default_float,
    is_number,
    operator,
    platform_dependent,
    Promote,
    Requirement,
    Scalar,
    value_fits,
)
from functx._core.numbers.bitwise_comparison import at_least_zero, less, negative
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.quotients import quotient
from functx._ops.sigmoids import sigmoid as logistic

from .larger import larger_and_gap, log_add_exp
from .logarithms import logarithm
from .near_one import exponential_less_1, logarithm_of_1_plus
from .operands import check_floating
from .other_bases import exponential_to_2, logarithm_to_2, logarithm_to_10
from .rounded_once import log_of_odds


__all__ = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logit",
    "sigmoid",
    "xlogy",
]


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def exp(input: ArrayLike) -> Array:
    """Exponential of each element $x_i$ of `input`: $e^{x_i}$.

    Dtypes: bools and integers give the default dtype.

    >>> functx.exp(jnp.zeros(2, "int32"))
    Array([1., 1.], dtype=float32)
    """
    return lax.exp(input)


@operator(promote=Promote.INT_TO_FLOAT, aliases=("special.exp2",))
def exp2(input: ArrayLike) -> Array:
    """Two to the power of each element $x_i$ of `input`: $2^{x_i}$.

    It is exact where $x_i$ is a whole number and the power a normal one.

    Dtypes: bools and integers give the default dtype.

    >>> functx.exp2(jnp.asarray([0.0, 1.0, -2.0], "float32"))
    Array([1.  , 2.  , 0.25], dtype=float32)
    """
    return exponential_to_2(input)


@operator(
    promote=Promote.INT_TO_FLOAT,
    aliases=("special.expm1",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def expm1(input: ArrayLike) -> Array:
    """Exponential of each element $x_i$ of `input`, minus one: $e^{x_i} - 1$.

    It keeps the digits of small elements.

    Dtypes: bools and integers give the default dtype.

    >>> functx.expm1(jnp.asarray([0.0, 1e-8], "float32"))
    Array([0.e+00, 1.e-08], dtype=float32)
    """
    return exponential_less_1(input)


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def log(input: ArrayLike) -> Array:
    r"""Natural logarithm of each element $x_i$ of `input`: $\ln x_i$.

    Real numbers below zero give NaN.

    Dtypes: bools and integers give the default dtype.

    >>> functx.log(jnp.asarray([1.0, 2.0], "float32")).round(3)
    Array([0.   , 0.693], dtype=float32)
    """
    return logarithm(input)


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def log2(input: ArrayLike) -> Array:
    """Logarithm to base 2 of each element of `input`; exact for powers of 2.

    Real numbers below zero give NaN.

    Dtypes: bools and integers give the default dtype.

    >>> functx.log2(jnp.asarray([1.0, 8.0], "float32"))
    Array([0., 3.], dtype=float32)
    """
    return logarithm_to_2(input)


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def log10(input: ArrayLike) -> Array:
    """Logarithm to base 10 of each element of `input`; exact for powers of 10.

    Real numbers below zero give NaN.

    Dtypes: bools and integers give the default dtype.

    >>> functx.log10(jnp.asarray([1.0, 1000.0], "float32"))
    Array([0., 3.], dtype=float32)
    """
    return logarithm_to_10(input)


@operator(
    promote=Promote.INT_TO_FLOAT,
    aliases=("special.log1p",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def log1p(input: ArrayLike) -> Array:
    r"""Natural logarithm of one plus each element $x_i$ of `input`: $\ln(1 + x_i)$.

    It keeps the digits of small elements. Real numbers below -1 give NaN.

    Dtypes: bools and integers give the default dtype.

    >>> functx.log1p(jnp.asarray([0.0, 1e-8], "float32"))
    Array([0.e+00, 1.e-08], dtype=float32)
    """
    return logarithm_of_1_plus(input)


@operator(promote=Promote.INT_TO_FLOAT, aliases=("nn.functional.sigmoid", "special.expit"))
def sigmoid(input: ArrayLike) -> Array:
    """Logistic function of each element $x_i$ of `input`, $1 / (1 + e^{-x_i})$.

    Dtypes: bools and integers give the default dtype.

    >>> functx.sigmoid(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([0.5  , 0.731], dtype=float32)
    """
    return logistic(input)


def _eps_fits(*, input: Any, eps: Any, **_: Any) -> Iterator[Requirement]:
    if eps is not None and is_number(eps):
        floating = category(input.dtype) == 2
        yield value_fits(eps, input.dtype if floating else default_float(), "eps")


@operator(
    promote=Promote.INT_TO_FLOAT,
    accepts=Accepts.REAL,
    requires=_eps_fits,
    aliases=("special.logit",),
)
def logit(input: ArrayLike, eps: Scalar | None = None) -> Array:
    r"""Logarithm of the odds of each element $x_i$ of `input`: $\ln(x_i / (1 - x_i))$.

    This is the inverse of `functx.sigmoid`. Elements outside of $[0, 1]$ give NaN, and so do their
    gradients.

    - `eps`: a number. Elements are first clamped to $[\mathrm{eps}, 1 - \mathrm{eps}]$, and have
      gradient 0 outside. `None`, the default, and a negative number clamp nothing.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.logit(jnp.asarray([0.0, 0.5, 0.75], "float32")).round(2)
    Array([-inf, 0. , 1.1], dtype=float32)
    """
    return _logit(input, jnp.asarray(-1 if eps is None else eps, input.dtype))


def _outside(x: Array, eps: Array) -> tuple[Array, Array]:
    return less(x, eps) & at_least_zero(eps), less(1 - eps, x) & at_least_zero(eps)


def _log_of_odds(x: Array, eps: Array) -> Array:
    below, above = _outside(x, eps)
    x = jnp.where(below, eps, jnp.where(above, 1 - eps, x))
    if x.dtype == np.float32:
        return platform_dependent(x, cpu=log_of_odds, default=_log_of_odds_by_parts)
    return _log_of_odds_by_parts(x)


def _log_of_odds_by_parts(x: Array) -> Array:
    # Near 1/2 the odds are near 1, where the logarithm has its root.
    low = x < 0.25
    away = jnp.where(low, 0, (2 * x - 1) / (1 - x))
    return jnp.where(low, lax.log(x / (1 - x)), logarithm_of_1_plus(away))


# The slope $s$ has the derivative $(2x - 1) s^2$; no factor leaves the range before the product.
_odds_slope = derivative_rules(
    lambda x: 1 / lax.abs(x * (1 - x)),
    jvp=lambda primals, output, tangents: tangents[0] * ((2 * primals[0] - 1) * output * output),
    name="logit",
)


def _logit_tangent(primals: Any, output: Array, tangents: Any) -> Array:
    x, eps = primals
    below, above = _outside(x, eps)
    slope = _odds_slope(jnp.where(negative(x) | (x > 1), jnp.nan, x))
    moved = tangents[1] * jnp.where(eps > 0, 1 / (eps * (1 - eps)), 0)
    inside = tangents[0] * jnp.where(below | above, 0, slope)
    return jnp.where(below, moved, jnp.where(above, -moved, inside))


_logit = derivative_rules(_log_of_odds, jvp=_logit_tangent, name="logit")


@operator(accepts=Accepts.ANY)
def logaddexp(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Logarithm of a sum of exponentials, for `input` $x$ and `other` $z$: $y = \ln(e^x + e^z)$.

    Where both are the same infinity, the gradient goes to `input`.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype, which must be floating or complex.
    Errors: TypeError for bools and integers.

    >>> functx.logaddexp(jnp.zeros(2, "float32"), jnp.zeros(2, "float32")).round(3)
    Array([0.693, 0.693], dtype=float32)
    """
    check_floating(input.dtype)
    return log_add_exp(input, other)


@operator(accepts=Accepts.REAL)
def logaddexp2(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Logarithm of a sum of powers of 2, for `input` $x$ and `other` $z$: $y = \log_2(2^x + 2^z)$.

    Where both are the same infinity, the gradient goes to `input`.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype, which must be floating.
    Errors: TypeError for bools, integers and complex numbers.

    >>> functx.logaddexp2(jnp.zeros(2, "float32"), jnp.zeros(2, "float32"))
    Array([1., 1.], dtype=float32)
    """
    check_floating(input.dtype)
    high, gap = larger_and_gap(input, other)
    return high + lax.log1p(lax.exp2(gap)) * np.asarray(1 / math.log(2), high.dtype)


@operator(
    promote=Promote.INT_TO_FLOAT,
    accepts=Accepts.REAL,
    needs_array=True,
    aliases=("special.xlogy",),
)
def xlogy(input: ArrayLike, other: ArrayLike) -> Array:
    r"""Product of `input` $x$ and the logarithm of `other` $z$: $y = x \ln z$.

    It is 0 where $x = 0$. Where $x = 0$ and $z \le 0$ both gradients are 0 (in PyTorch, at the
    origin one is NaN). NaN in `other` stays NaN.

    Shapes: `input` and `other` broadcast.
    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

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
