"""Exponentials and logarithms to bases 2 and 10, exact where the power of the base is.

XLA multiplies by the logarithm of the base, which loses as many digits as the exponent has.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import category, platform_dependent
from functx._core.rules.custom_derivatives import derivative_rules

from .binary_parts import mantissa_and_exponent, scaled
from .logarithms import logarithm
from .rounded_once import power_of_2


# $\log_{10} 2$ in two parts; products of the first with exponents are exact.
_SPLIT = {
    "float32": (0.301025390625, 4.605038981195214e-06),
    "float64": (0.3010299956640665, -8.532344317057107e-14),
}


def exponential_to_2(x: Array) -> Array:
    r"""$2^x$ of floating or complex numbers."""
    return _exponential(x)


def logarithm_to_2(x: Array) -> Array:
    r"""$\log_2 x$ of floating or complex numbers."""
    return _to_2(x)


def logarithm_to_10(x: Array) -> Array:
    r"""$\log_{10} x$ of floating or complex numbers."""
    return _to_10(x)


def _exponential_forward(x: Array) -> Array:
    if category(x.dtype) == 3:
        return lax.exp2(x)
    if x.dtype == np.float32:
        return platform_dependent(x, cpu=power_of_2, default=_by_exponential)
    return _by_exponential(x)


def _by_exponential(x: Array) -> Array:
    beyond = np.asarray(2 * jnp.finfo(x.dtype).maxexp, x.dtype)
    x = lax.clamp(-beyond, x, beyond)
    whole = lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    part = lax.exp(np.asarray(math.log(2), x.dtype) * (x - whole))
    return scaled(part, lax.convert_element_type(jnp.where(x == x, whole, 0), np.int32))


def _to_2_forward(x: Array) -> Array:
    if category(x.dtype) == 3:
        return _times(logarithm(x), 1 / math.log(2))
    part, exponent = _about_1(x)
    return exponent + np.asarray(1 / math.log(2), x.dtype) * lax.log(part)


def _to_10_forward(x: Array) -> Array:
    if category(x.dtype) == 3:
        return _times(logarithm(x), 1 / math.log(10))
    part, exponent = _about_1(x)
    high, low = (np.asarray(half, x.dtype) for half in _SPLIT[x.dtype.name])
    return exponent * high + (
        exponent * low + np.asarray(1 / math.log(10), x.dtype) * lax.log(part)
    )


def _about_1(x: Array) -> tuple[Array, Array]:
    r"""A factor of `x` between $\sqrt{1/2}$ and $\sqrt 2$, and the exponent of 2 that remains."""
    mantissa, exponent = mantissa_and_exponent(x)
    low = mantissa < math.sqrt(0.5)
    part = jnp.where(low & (lax.abs(mantissa) >= 0.5), 2 * mantissa, mantissa)
    return part, (exponent - low.astype(np.int32)).astype(x.dtype)


def _times(z: Array, factor: float) -> Array:
    by = np.asarray(factor, lax.real(z).dtype)
    return lax.complex(lax.real(z) * by, lax.imag(z) * by)


_exponential = derivative_rules(
    _exponential_forward,
    jvp=lambda primals, output, tangents: tangents[0] * (math.log(2) * output),
    name="exp2",
)
_to_2 = derivative_rules(
    _to_2_forward,
    # The quotient comes first: the product of a small number and the logarithm may be subnormal.
    jvp=lambda primals, output, tangents: tangents[0] / primals[0] * (1 / math.log(2)),
    name="log2",
)
_to_10 = derivative_rules(
    _to_10_forward,
    jvp=lambda primals, output, tangents: tangents[0] / (primals[0] * math.log(10)),
    name="log10",
)
