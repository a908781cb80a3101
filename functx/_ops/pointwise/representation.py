"""Mantissas, exponents and neighbours of floating numbers, subnormal ones included."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayOnly, category, operator, Promote
from functx._core.numbers.bitwise_comparison import bits, from_bits, greatest_key, ordered_bits
from functx._core.rules.custom_derivatives import derivative_rules

from .binary_parts import mantissa_and_exponent, scaled
from .circular import cosine, sine
from .operands import check_floating


__all__ = ["frexp", "ldexp", "nextafter"]


class FrexpResult(NamedTuple):
    """The mantissas and the exponents of 2 that `frexp` finds."""

    mantissa: Array
    exponent: Array


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.FLOATING)
def frexp(input: ArrayOnly) -> FrexpResult:
    r"""Takes numbers $x_i$ of `input` apart, $x_i = m_i \cdot 2^{e_i}$: `(mantissa, exponent)`.

    $\tfrac12 \le |m_i| < 1$, but zeros, infinities and NaN are their own mantissas, with the
    exponent 0. The gradient of the mantissa is $2^{-e_i}$.

    Shapes: both results have the shape of `input`.
    Dtypes: `input` is floating, and so is `mantissa`; `exponent` is int32.
    Errors: TypeError for other dtypes.

    >>> mantissa, exponent = functx.frexp(jnp.asarray([3.0, -0.25, 0.0], "float32"))
    >>> mantissa, exponent
    (Array([ 0.75, -0.5 ,  0.  ], dtype=float32), Array([ 2, -1,  0], dtype=int32))
    """
    return FrexpResult(*_parts(input))


_parts = derivative_rules(
    mantissa_and_exponent,
    jvp=lambda primals, output, tangents: (scaled(tangents[0], -output[1]), None),
    name="frexp",
)


@operator(promote=Promote.INT_TO_FLOAT)
def ldexp(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Scales `input` $x$ by a power of two with the exponent `other` $e$: $y = x \cdot 2^e$.

    Whole exponents of real numbers scale without rounding, however large the power itself: zeros
    and infinities stay what they are. (In PyTorch they give NaN where the power is out of range.)

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype. Bools and integers give the default
    dtype.

    >>> functx.ldexp(jnp.asarray([1.0, 3.0], "float32"), jnp.asarray([2, -1], "int32"))
    Array([4. , 1.5], dtype=float32)
    """
    return _times_power(*jnp.broadcast_arrays(input, other))


def _times_power_forward(x: Array, exponent: Array) -> Array:
    along = lax.real(exponent) if category(exponent.dtype) == 3 else exponent
    beyond = np.asarray(4 * jnp.finfo(along.dtype).maxexp, along.dtype)
    finite = lax.is_finite(along)
    along = jnp.where(finite, lax.clamp(-beyond, along, beyond), along)
    # The fraction has the sign of the exponent: no product leaves the range before the last one.
    whole = jnp.where(finite, jnp.trunc(along), 0)
    ln_2 = np.asarray(math.log(2), along.dtype)
    part = lax.exp(ln_2 * (along - whole))
    whole = lax.convert_element_type(whole, np.int32)
    if category(x.dtype) < 3:
        return scaled(x * part, whole)
    turn = lax.imag(exponent) * ln_2
    x = x * lax.complex(part * cosine(turn), part * sine(turn))
    return lax.complex(scaled(lax.real(x), whole), scaled(lax.imag(x), whole))


def _times_power_cotangents(
    primals: tuple[Array, Array], output: Array, cotangent: Array
) -> tuple[Array, Array]:
    slope = output * np.asarray(math.log(2), output.dtype)
    # `_times_power` itself has no transpose.
    return _times_power_forward(cotangent, primals[1]), cotangent * slope


_times_power = derivative_rules(_times_power_forward, vjp=_times_power_cotangents, name="ldexp")


@operator(promote=Promote.NO_OPMATH, accepts=Accepts.REAL)
def nextafter(input: ArrayOnly, other: ArrayOnly) -> Array:
    """The floating number next to each element of `input` in the direction of `other`.

    Where they are equal it is `other` itself, and the gradient is 0; elsewhere the gradient goes to
    `input`.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype, which must be floating.
    Errors: TypeError for bools, integers and complex numbers.

    >>> functx.nextafter(jnp.asarray([1.0, 1.0], "float32"), jnp.asarray([2.0, 1.0], "float32")) - 1
    Array([1.1920929e-07, 0.0000000e+00], dtype=float32)
    """
    check_floating(input.dtype)
    return _neighbour(*jnp.broadcast_arrays(input, other))


def _neighbour_forward(x: Array, y: Array) -> Array:
    at, towards = ordered_bits(x), ordered_bits(y)
    of = at.dtype.type
    moved = at + jnp.where(towards > at, of(1), of(-1))
    # A step from 0 has the sign of the step; a step to 0 keeps the sign.
    negative = (moved < 0) | ((moved == 0) & (bits(x) < 0))
    size = lax.abs(moved)
    out = jnp.where(negative, size | of(np.iinfo(of).min), size)
    out = jnp.where(at == towards, bits(y), out)
    nan = greatest_key(at.dtype)
    unordered = (at == nan) | (towards == nan)
    return jnp.where(unordered, np.asarray(np.nan, x.dtype), from_bits(out, x.dtype))


def _neighbour_tangent(primals: Any, output: Array, tangents: Any) -> Array:
    at, towards = map(ordered_bits, primals)
    return jnp.where((at != towards) | (at == greatest_key(at.dtype)), tangents[0], 0)


_neighbour = derivative_rules(_neighbour_forward, jvp=_neighbour_tangent, name="nextafter")
