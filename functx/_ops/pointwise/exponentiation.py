"""Powers; in single precision on CPUs by polynomials in double precision.

XLA calls the C library there for each element. Results that are rounded from double precision are
within 0.51 ulp, and each depends on its own element alone. Complex powers go by logarithms.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import category, platform_dependent
from functx._ops.polynomials import horner

from .logarithms import logarithm


# $\log_2((1 + z) / (1 - z)) / z$ by powers of $z^2$, for arguments of the logarithm between
# $\sqrt{1/2}$ and $\sqrt 2$, and $2^f$ for $|f| \le 1/2$: Chebyshev's interpolants, to 3e-14 and
# 6e-11.
_LOGARITHM = (
    *(2.8853900817778504, 0.9617966941123595, 0.5770779426302618, 0.41220922733052445),
    *(0.3199066608891474, 0.28288718263073565),
)
_EXPONENTIAL = (
    *(0.9999999999595618, 0.6931471805568324, 0.24022651213498092, 0.055504109063258665),
    *(0.009618025613318034, 0.0013333478473685416, 0.00015469729214118296),
    1.5303700711365693e-05,
)
_BEYOND = np.float64(200)  # $2^{200}$ is infinite and $2^{-200}$ is 0 in single precision


def power(x: Array, y: Array) -> Array:
    """$x^y$ of two arrays of one shape and dtype."""
    if category(x.dtype) == 3:
        return _by_logarithm(x, y)
    if x.dtype != np.float32:
        return lax.pow(x, y)
    return platform_dependent(x, y, cpu=_by_polynomials, default=lax.pow)


def _by_logarithm(x: Array, y: Array) -> Array:
    # XLA's power takes powers of the squared modulus, which loses digits where that is near 1;
    # logarithms lose digits where it is not.
    out, real = logarithm(x), lax.imag(y) == 0
    length, angle = lax.real(out), lax.imag(out)
    size = lax.exp(lax.real(y) * length - lax.imag(y) * angle)
    size = jnp.where(real & (lax.abs(length) > 0.5), lax.pow(lax.abs(x), lax.real(y)), size)
    turn = lax.real(y) * angle + lax.imag(y) * length
    out = lax.complex(size * lax.cos(turn), size * lax.sin(turn))
    growing, shrinking = lax.real(y) > 0, lax.real(y) < 0
    endless = (x == np.inf) & real
    out = jnp.where(endless & growing, np.inf, out)
    out = jnp.where((x == 0) & growing | endless & shrinking, 0, out)
    return jnp.where((y == 0) | (x == 1), 1, out)


def _by_polynomials(x: Array, y: Array) -> Array:
    with jax.enable_x64(True):
        exponent = lax.convert_element_type(y, np.float64) * _logarithm(x)
        exponent = lax.clamp(-_BEYOND, exponent, _BEYOND)
        whole = lax.round(exponent, lax.RoundingMethod.TO_NEAREST_EVEN)
        biased = lax.convert_element_type(whole, np.int64) + np.int64(1023)
        scale = lax.bitcast_convert_type(biased << np.int64(52), np.float64)
        size = lax.convert_element_type(horner(_EXPONENTIAL, exponent - whole) * scale, np.float32)
    size = jnp.where(lax.abs(x) == 1, np.float32(1), size)
    integral, even = lax.floor(y) == y, lax.floor(y * np.float32(0.5)) == y * np.float32(0.5)
    negative = lax.bitcast_convert_type(x, np.int32) < 0
    size = jnp.where(negative & integral & ~even, -size, size)
    size = jnp.where((x < 0) & (x > -np.inf) & ~integral | (x != x), np.float32(np.nan), size)
    return jnp.where((y == 0) | (x == 1), np.float32(1), size)


def _logarithm(x: Array) -> Array:
    """Logarithm to base 2 of the magnitude of `x`."""
    bits = lax.bitcast_convert_type(x, np.int32) & np.int32(0x7FFFFFFF)
    subnormal = bits < np.int32(0x00800000)  # the processor takes subnormal numbers for 0
    grown = lax.bitcast_convert_type(lax.convert_element_type(bits, np.float32), np.int32)
    normal = jnp.where(subnormal, grown, bits)
    root = np.sqrt(np.float32(0.5)).view(np.int32)
    whole = (normal - root) >> np.int32(23)
    part = lax.bitcast_convert_type(normal - (whole << np.int32(23)), np.float32)
    part = lax.convert_element_type(part, np.float64)
    ratio = (part - np.float64(1)) / (part + np.float64(1))
    # A quotient that is used twice XLA would write to memory; the result of a choice it does not.
    ratio = jnp.where(bits == 0, np.float64(-np.inf), ratio)
    ratio = jnp.where(bits == np.int32(0x7F800000), np.float64(np.inf), ratio)
    whole = whole - jnp.where(subnormal, np.int32(149), np.int32(0))
    return lax.convert_element_type(whole, np.float64) + ratio * horner(_LOGARITHM, ratio * ratio)
