"""Trigonometric functions and angles."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, ArrayOnly, Autocast, category, operator, Promote
from functx._core.numbers.bitwise_comparison import negative
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.polynomials import horner

from .circular import cosine, sine, tangent
from .direction import direction


__all__ = ["angle", "atan2", "cos", "deg2rad", "rad2deg", "sin", "sinc", "tan"]


# $\sin(\pi x) / (\pi x)$ by powers of $x^2$, for $|x| \le 1/2$: as many terms as the value and
# its derivatives need in double precision.
_SERIES = [(-1) ** k * math.pi ** (2 * k) / math.factorial(2 * k + 1) for k in range(14)]


def normalized_sine(x: Array) -> Array:
    r"""$\sin(\pi x) / (\pi x)$ of floating or complex numbers, and 1 at 0.

    >>> normalized_sine(jnp.asarray([0.0, 1.5], "float32")).round(2)
    Array([ 1.  , -0.21], dtype=float32)
    """
    near = lax.abs(x) < 0.5
    series = horner(_SERIES, jnp.where(near, x, 0) ** 2)
    far = jnp.where(near, 1, x)
    # The distance to the nearest integer is exact, so its sine loses no digits.
    whole = lax.round(lax.real(far) if category(x.dtype) == 3 else far)
    whole = lax.stop_gradient(whole)
    odd = lax.floor(0.5 * whole) != 0.5 * whole
    wave = sine(math.pi * (far - whole.astype(x.dtype)))
    return jnp.where(near, series, jnp.where(odd, -wave, wave) / (math.pi * far))


@operator(promote=Promote.INT_TO_FLOAT)
def sin(input: ArrayLike) -> Array:
    r"""Sine of each element $x_i$ of `input`, in radians: $\sin x_i$.

    Dtypes: bools and integers give the default dtype.

    >>> functx.sin(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([0.   , 0.841], dtype=float32)
    """
    return sine(input)


@operator(promote=Promote.INT_TO_FLOAT)
def cos(input: ArrayLike) -> Array:
    r"""Cosine of each element $x_i$ of `input`, in radians: $\cos x_i$.

    Dtypes: bools and integers give the default dtype.

    >>> functx.cos(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([1.  , 0.54], dtype=float32)
    """
    return cosine(input)


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def tan(input: ArrayLike) -> Array:
    r"""Tangent of each element $x_i$ of `input`, in radians: $\tan x_i$.

    Dtypes: bools and integers give the default dtype.

    >>> functx.tan(jnp.asarray([0.0, 1.0], "float32")).round(3)
    Array([0.   , 1.557], dtype=float32)
    """
    return tangent(input)


@operator(
    promote=Promote.INT_TO_FLOAT,
    accepts=Accepts.REAL,
    aliases=("arctan2",),
    autocast=Autocast.WIDEST,
    autocast_cpu=Autocast.KEEP,
)
def atan2(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Angle of the point with the abscissa `other` and the ordinate `input`, in radians.

    The angle lies in $[-\pi, \pi]$. Both gradients are 0 at the origin, second derivatives NaN.
    Gradients are right where squares leave the range, and at infinities (in PyTorch 0 or NaN).

    Shapes: `input` and `other` broadcast.
    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.atan2(jnp.asarray([1.0, 0.0], "float32"), jnp.asarray([0.0, -1.0], "float32"))
    Array([1.5707964, 3.1415927], dtype=float32)
    """
    return _atan2(*jnp.broadcast_arrays(input, other))


@operator(promote=Promote.INT_TO_FLOAT_COMPLEX_TO_FLOAT)
def angle(input: ArrayLike) -> Array:
    r"""Argument of each element of `input`, in radians in $[-\pi, \pi]$.

    A real number gives 0, $\pi$ if it is negative, or NaN for NaN. The gradient is 0 at the origin
    and on real arrays.

    Dtypes: complex arrays give real ones; bools and integers give the default dtype.

    >>> functx.angle(jnp.asarray([1.0, -1.0, 1.0j], "complex64"))
    Array([0.       , 3.1415927, 1.5707964], dtype=float32)
    """
    if category(input.dtype) == 3:
        return _atan2(lax.imag(input), lax.real(input))
    turn = jnp.where(negative(input), jnp.asarray(jnp.pi, input.dtype), 0)
    return jnp.where(input != input, jnp.nan, turn)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL)
def deg2rad(input: ArrayLike) -> Array:
    r"""Angles in radians of the angles $x_i$ of `input` in degrees, $\tfrac{\pi}{180} x_i$.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.deg2rad(jnp.asarray([0, 180], "int32"))
    Array([0.       , 3.1415927], dtype=float32)
    """
    return input * np.asarray(math.pi / 180, input.dtype)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.REAL)
def rad2deg(input: ArrayLike) -> Array:
    r"""Angles in degrees of the angles $x_i$ of `input` in radians, $\tfrac{180}{\pi} x_i$.

    Dtypes: bools and integers give the default dtype. Errors: TypeError for complex numbers.

    >>> functx.rad2deg(jnp.asarray([0.0, jnp.pi], "float32"))
    Array([  0., 180.], dtype=float32)
    """
    return input * np.asarray(180 / math.pi, input.dtype)


@operator(promote=Promote.INT_TO_FLOAT, aliases=("special.sinc",))
def sinc(input: ArrayLike) -> Array:
    r"""Normalized sinc function of each element $x_i$ of `input`: $\sin(\pi x_i) / (\pi x_i)$.

    It is 1 at 0. Derivatives are right at 0 and near it, also of second order (in PyTorch NaN at
    0).

    Dtypes: bools and integers give the default dtype.

    >>> functx.sinc(jnp.asarray([0.0, 0.5], "float32")).round(3)
    Array([1.   , 0.637], dtype=float32)
    """
    return normalized_sine(input)


def _gradient(y: Array, x: Array) -> tuple[Array, Array]:
    """$x / (x^2 + y^2)$ and $y / (x^2 + y^2)$ without squares, and 0 at the origin."""
    steep = lax.abs(y) > lax.abs(x)
    large, small = jnp.where(steep, y, x), jnp.where(steep, x, y)
    origin = (y == 0) & (x == 0)
    large = jnp.where(origin, 1, large)
    ratio = small / large
    # XLA would merge two divisions into one by a product, which may underflow; hence the inverse.
    inverse = 1 / (large + small * ratio)
    other = ratio * inverse
    along_y, along_x = jnp.where(steep, other, inverse), jnp.where(steep, inverse, other)
    return _flat_where(origin, along_y, y, x), _flat_where(origin, along_x, y, x)


# At the origin the gradient is 0 by convention, and the second derivative is NaN.
_flat_where = derivative_rules(
    lambda origin, along, y, x: jnp.where(origin, 0, along),
    jvp=lambda primals, output, tangents: jnp.where(primals[0], jnp.nan, tangents[1]),
    vjp=lambda primals, output, cotangent: (
        None,
        jnp.where(primals[0], 0, cotangent),
        *[jnp.where(primals[0], jnp.nan, jnp.zeros_like(cotangent))] * 2,
    ),
    name="atan2",
)


def _slope(primals: Any, output: Array, tangents: Any) -> Array:
    along_y, along_x = _gradient(*primals)
    return tangents[0] * along_y - tangents[1] * along_x


# lax.atan2 squares its arguments: NaN at the origin, and near it where squares underflow.
_atan2 = derivative_rules(direction, jvp=_slope, name="atan2")
