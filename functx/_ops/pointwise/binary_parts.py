"""Numbers as mantissas times powers of two, taken apart and put together without rounding."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core.numbers.bitwise_comparison import bits, from_bits


def mantissa_and_exponent(x: Array) -> tuple[Array, Array]:
    """The `m` and `e` of $x = m 2^e$ with $|m|$ in $[1/2, 1)$; `e` has the dtype int32.

    Zeros, infinities and NaN are their own mantissas, with the exponent 0. Subnormal numbers are
    taken apart too, which XLA's programs for CPUs take for zeros.
    """
    info = jnp.finfo(x.dtype)
    signed = bits(x)
    of = signed.dtype.type
    sizes = signed & of(np.iinfo(signed.dtype).max)
    one, lowest = of(1) << of(info.nmant), of(0)
    # The bits of a subnormal number, as an integer, are its multiple of the smallest one.
    grown = bits(lax.convert_element_type(sizes, x.dtype))
    subnormal = (sizes < one) & (sizes > lowest)
    normal = jnp.where(subnormal, grown, sizes)
    bias = of(1 - info.minexp)
    half = (bias - of(1)) << of(info.nmant)
    mantissa = (normal & (one - of(1))) | half | (signed ^ sizes)
    exponent = (normal >> of(info.nmant)) - bias + of(1)
    exponent = exponent + jnp.where(subnormal, of(info.minexp - info.nmant), lowest)
    plain = (sizes != lowest) & (sizes < of((1 << info.nexp) - 1) << of(info.nmant))
    mantissa = from_bits(jnp.where(plain, mantissa, signed), x.dtype)
    return mantissa, lax.convert_element_type(jnp.where(plain, exponent, lowest), np.int32)


def scaled(x: Array, exponent: Array) -> Array:
    """$x 2^e$ of floating or complex `x` and an integer `exponent` $e$ of one shape."""
    part = jnp.finfo(x.dtype)
    rest = exponent
    for _ in range(3):  # from the greatest number to the least
        here = jnp.clip(rest, part.minexp, part.maxexp - 1)
        rest = rest - here
        x = x * power_of_two(here, part.dtype).astype(x.dtype)
    return x


def power_of_two(exponent: Array, dtype: np.dtype) -> Array:
    """$2^e$ in `dtype` for an integer `exponent` $e$, where the power is a normal number."""
    info = jnp.finfo(dtype)
    integers = np.dtype(f"int{8 * dtype.itemsize}")
    of = integers.type
    biased = lax.convert_element_type(exponent, integers) + of(1 - info.minexp)
    return from_bits(biased << of(info.nmant), dtype)
