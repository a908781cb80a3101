"""The complementary and the inverse error function, and the normal distribution."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, Autocast, operator, Promote
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.error_functions import error_slope

from . import single_tails
from .gaussian_tails import (
    complement,
    error_function,
    exponential_of_square,
    log_normal_distribution,
    normal_distribution,
    scaled_complement,
)
from .scaled_tails import relative_fall, scaled_complement_function
from .wide import widened


__all__ = ["erfc", "erfcx", "erfinv", "log_ndtr", "ndtr", "ndtri"]


def error_function_inverse(x: Array) -> Array:
    r"""The $y$ with $\mathrm{erf}(y) = x$: Giles' approximation, and a step of Newton's method."""
    y = lax.erf_inv(x)
    finite = jnp.where(jnp.abs(x) < 1, y, 0)
    size = jnp.abs(finite)
    near = size < 0.5
    excess = jnp.where(
        near,
        error_function(jnp.minimum(size, 0.5)) - jnp.abs(x),
        (1 - jnp.abs(x)) - complement(size),
    )
    step = excess * (0.5 * math.sqrt(math.pi)) * exponential_of_square(size, 1)
    better = jnp.copysign(size - step, x)
    return jnp.where((jnp.abs(x) < 1) & (x != 0), better, y)


def normal_quantile(p: Array) -> Array:
    r"""The $x$ with $\Phi(x) = p$."""
    middle = math.sqrt(2) * error_function_inverse(jnp.clip(2 * p - 1, -0.75, 0.75))
    small = jnp.clip(jnp.minimum(p, 1 - p), 1e-308, 0.25)
    depth = jnp.sqrt(-2 * jnp.log(small))
    # Hastings' approximation (Abramowitz and Stegun 26.2.23), and steps of Newton's method.
    size = depth - (0.010328 * depth * depth + 0.802853 * depth + 2.515517) / (
        ((0.001308 * depth + 0.189269) * depth + 1.432788) * depth + 1
    )
    log_of_small = -0.5 * depth * depth
    for _ in range(3):
        # Newton's method solves for $\ln\Phi$, which is nearly a square.
        scaled = 0.5 * scaled_complement(size * math.sqrt(0.5))
        slope = math.sqrt(0.5 / math.pi) / scaled
        residual = jnp.log(scaled) - 0.5 * size * size - log_of_small
        size = size + residual / slope
    tail = jnp.where(p < 0.5, -size, size)
    out = jnp.where((p < 0.125) | (p > 0.875), tail, middle)
    out = jnp.where(p == 0, -jnp.inf, jnp.where(p == 1, jnp.inf, out))
    return jnp.where((p >= 0) & (p <= 1), out, jnp.nan)


@operator(
    name="erfc", promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL, aliases=("special.erfc",)
)
def erfc(input: ArrayLike) -> Array:
    r"""Complementary error function of each element of `input`: $1 - \mathrm{erf}(x_i)$.

    This is $\tfrac{2}{\sqrt\pi} \int_{x_i}^\infty e^{-t^2} dt$.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.erfc(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([1.   , 0.157], dtype=float32)
    """
    return _erfc(input)


@operator(
    name="erfinv",
    promote=Promote.INT_TO_FLOAT,
    accepts=Accepts.REAL,
    aliases=("special.erfinv",),
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def erfinv(input: ArrayLike) -> Array:
    r"""Inverse of the error function of each element $x_i$ of `input`: $\mathrm{erf}(y_i) = x_i$.

    It is infinite at -1 and 1, and NaN beyond.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.erfinv(jnp.asarray([0.0, 0.5, 1.0], "float32")).round(2)
    Array([0.  , 0.48,  inf], dtype=float32)
    """
    return _erfinv(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def erfcx(input: ArrayLike) -> Array:
    r"""Scaled complementary error function of each element of `input`.

    This is $e^{x_i^2}\,\mathrm{erfc}(x_i)$.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.erfcx(jnp.asarray([0.0, 1000.0], "float32"))
    Array([1.000000e+00, 5.641893e-04], dtype=float32)
    """
    return scaled_complement_function(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL)
def ndtr(input: ArrayLike) -> Array:
    r"""Standard normal distribution function of each element of `input`.

    This is $\Phi(x_i) = \tfrac{1}{\sqrt{2\pi}} \int_{-\infty}^{x_i} e^{-t^2/2} dt$.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.special.ndtr(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([0.5  , 0.841], dtype=float32)
    """
    return _ndtr(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def ndtri(input: ArrayLike) -> Array:
    r"""Quantiles of the standard normal distribution at the probabilities $x_i$ of `input`.

    $\Phi(y_i) = x_i$, where $\Phi$ is the distribution function. The result is infinite at 0 and 1,
    and NaN outside.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.ndtri(jnp.asarray([0.5, 0.975], "float32")).round(3)
    Array([0.  , 1.96], dtype=float32)
    """
    return _ndtri(input)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL)
def log_ndtr(input: ArrayLike) -> Array:
    r"""Logarithm of the standard normal distribution function of each element of `input`.

    This is $\ln \Phi(x_i)$ with $\Phi(x) = \tfrac{1}{\sqrt{2\pi}} \int_{-\infty}^x e^{-t^2/2} dt$.

    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.

    >>> functx.special.log_ndtr(jnp.asarray([0.0, -100.0], "float32")).round()
    Array([-1.000e+00, -5.006e+03], dtype=float32)
    """
    return _log_ndtr(input)


_erfc = derivative_rules(
    widened(complement, single_tails.complement),
    jvp=lambda primals, output, tangents: -tangents[0] * error_slope(primals[0]),
    name="erfc",
)
_erfinv = derivative_rules(
    widened(error_function_inverse, single_tails.error_function_inverse),
    jvp=lambda primals, output, tangents: (
        tangents[0] * (0.5 * math.sqrt(math.pi) * jnp.exp(output * output))
    ),
    name="erfinv",
)
_ndtr = derivative_rules(
    widened(normal_distribution, single_tails.normal_distribution),
    jvp=lambda primals, output, tangents: (
        tangents[0] * (math.sqrt(0.5 / math.pi) * jnp.exp(-0.5 * primals[0] * primals[0]))
    ),
    name="ndtr",
)


def _slope_of_log_forward(x: Array) -> Array:
    return math.sqrt(2 / math.pi) / scaled_complement(-math.sqrt(0.5) * x)


def _slope_of_quantile(p: Array, x: Array) -> Array:
    r"""$1 / \varphi(x)$, computed from the tail beyond $x$, which has more digits than $x$."""
    beyond = jnp.minimum(p, 1 - p) * _slope_of_log_forward(-jnp.abs(x))
    return jnp.where(jnp.isinf(x), jnp.inf, 1 / beyond)


# The slope $s$ has the derivative $x s^2$ on the curve.
_quantile_slope = derivative_rules(
    widened(_slope_of_quantile, single_tails.slope_of_quantile),
    jvp=lambda primals, output, tangents: tangents[0] * ((primals[1] * output) * output),
    name="ndtri",
)
_ndtri = derivative_rules(
    widened(normal_quantile, single_tails.normal_quantile),
    jvp=lambda primals, output, tangents: tangents[0] * _quantile_slope(primals[0], output),
    name="ndtri",
)


# The slope $s = \varphi(x) / \Phi(x)$ has the derivative $-s (x + s)$, whose sum nearly cancels.
_slope_of_log = derivative_rules(
    widened(_slope_of_log_forward, single_tails.slope_of_log),
    jvp=lambda primals, output, tangents: (
        -tangents[0] * output * (math.sqrt(0.5) * relative_fall(-math.sqrt(0.5) * primals[0]))
    ),
    name="special.log_ndtr",
)
_log_ndtr = derivative_rules(
    widened(log_normal_distribution, single_tails.log_normal_distribution),
    jvp=lambda primals, output, tangents: tangents[0] * _slope_of_log(primals[0]),
    name="special.log_ndtr",
    of="primals",
)
