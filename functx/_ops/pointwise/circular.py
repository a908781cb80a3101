"""Sine, cosine and tangent; in single precision on CPUs by polynomials in double precision.

XLA calls the C library there for each element, at eight times the cost. Results that are rounded
from double precision are within 0.501 ulp (0.56 from the library), and do not show whether the
compiler fuses a product with a sum. Each result depends on its own element alone.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.custom_batching import custom_vmap

from functx._core import decided, min_max, platform_dependent
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.polynomials import horner


_LARGE = np.float32(2**20)  # beyond it the library computes: too few digits of pi would be left
_FEW = 256  # for so few elements a branch costs more than calls of the library
# $(\sin(r) / r - 1) / r^2$ by powers of $r^2$, up to $\pi / 2$: Chebyshev's interpolant, whose
# error is less than 2e-10 of the sine.
_SINE = (
    *(-0.16666666663867363, 0.008333332766508383, -0.00019841086016215184),
    *(2.7536422355454945e-06, -2.4079236990903226e-08),
)
# Taylor's series, used up to $\pi / 4$.
_SINE_SERIES = [(-1) ** k / math.factorial(2 * k + 1) for k in range(6)]
_COSINE_SERIES = [(-1) ** k / math.factorial(2 * k) for k in range(7)]
# $\pi / 2$ in two parts; products of the first, which has 33 bits, with 20 bits are exact.
_HALF_PI = 1.57079632673412561417, 6.07710050650619224932e-11


def sine(x: Array) -> Array:
    r"""$\sin x$ of floating or complex numbers."""
    return _sine(x) if x.dtype == np.float32 else lax.sin(x)


def cosine(x: Array) -> Array:
    r"""$\cos x$ of floating or complex numbers."""
    return _cosine(x) if x.dtype == np.float32 else lax.cos(x)


def tangent(x: Array) -> Array:
    r"""$\tan x$ of floating or complex numbers."""
    return _tangent(x) if x.dtype == np.float32 else lax.tan(x)


def _elementwise(name: str) -> Callable[[Array], Array]:
    library = getattr(lax, name)
    polynomial = ft.partial(_polynomial, name)

    @custom_vmap
    def function(x: Array) -> Array:
        return platform_dependent(x, cpu=on_cpu, default=library)

    @function.def_vmap
    def in_lanes(size: int, batched: list[bool], x: Array) -> tuple[Array, bool]:
        return function(x), True  # the whole batch decides whether the library is needed

    def on_cpu(x: Array) -> Array:
        both = lambda x: jnp.where(lax.abs(x) > _LARGE, library(x), polynomial(x))
        if decided(lambda: x.size <= _FEW, otherwise=False):
            return both(x)
        return lax.cond(_any_large(x), both, polynomial, x)

    return function


def _any_large(x: Array) -> Array:
    """Whether any magnitude is above `_LARGE`, or NaN.

    The bits of floating numbers, read as integers, are in the same order, which takes one quick
    pass.
    """
    magnitude = lax.bitcast_convert_type(x, np.int32) & np.int32(0x7FFFFFFF)
    least, greatest = min_max(magnitude)
    return (greatest > _LARGE.view(np.int32)) | (least < 0)  # a use of both keeps them in one pass


def _polynomial(name: str, x: Array) -> Array:
    with jax.enable_x64(True):
        wide = lax.convert_element_type(x, np.float64)
        out = _ratio(wide) if name == "tan" else _wave(wide, shifted=name == "cos")
    return out if name == "cos" else jnp.where(x == 0, x, out)  # keeps -0.0 and subnormals


def _wave(x: Array, *, shifted: bool) -> Array:
    """Sine of `x`, or its cosine if `shifted`, by the distance from the nearest zero."""
    shift = np.float64(0.5 * shifted)
    turns = _nearest(x * np.float64(1 / math.pi) - shift)
    rest = _less(x, (turns + shift) * np.float64(2))
    square = rest * rest
    out = lax.convert_element_type(rest + rest * square * horner(_SINE, square), np.float32)
    odd = (lax.convert_element_type(turns, np.int32) & np.int32(1)) == np.int32(1)
    return jnp.where(odd != shifted, -out, out)


def _ratio(x: Array) -> Array:
    """Tangent of `x`, by sine and cosine of the distance from the nearest zero or pole."""
    turns = _nearest(x * np.float64(2 / math.pi))
    rest = _less(x, turns)
    square = rest * rest
    sin, cos = rest * horner(_SINE_SERIES, square), horner(_COSINE_SERIES, square)
    odd = (lax.convert_element_type(turns, np.int32) & np.int32(1)) == np.int32(1)
    out = jnp.where(odd, -cos, sin) / jnp.where(odd, sin, cos)
    return lax.convert_element_type(out, np.float32)


def _nearest(x: Array) -> Array:
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


def _less(x: Array, turns: Array) -> Array:
    r"""`x` minus `turns` times $\pi / 2$."""
    for part in _HALF_PI:
        x = x - turns * np.float64(part)
    return x


_sine = derivative_rules(
    _elementwise("sin"),
    jvp=lambda primals, output, tangents: tangents[0] * cosine(primals[0]),
    name="sin",
)
_cosine = derivative_rules(
    _elementwise("cos"),
    jvp=lambda primals, output, tangents: -tangents[0] * sine(primals[0]),
    name="cos",
)
_tangent = derivative_rules(
    _elementwise("tan"),
    jvp=lambda primals, output, tangents: tangents[0] * (1 + output * output),
    name="tan",
)
