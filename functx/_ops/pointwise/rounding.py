"""Rounding to integers and to decimal places. Integers stay as they are; gradients are 0."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import Accepts, ArrayLike, category, operator, refuse
from functx._core.numbers.bitwise_comparison import negative, positive
from functx._ops.quotients import quotient


__all__ = ["ceil", "floor", "frac", "round", "trunc"]


@operator(accepts=Accepts.REAL_NUMBER)
def floor(input: ArrayLike) -> Array:
    r"""Largest integer not above each element $x_i$ of `input`, $\lfloor x_i \rfloor$.

    The gradient is 0.

    Dtypes: that of `input`; integers stay as they are. Errors: TypeError for bools and complex
    numbers.

    >>> functx.floor(jnp.asarray([1.5, -1.5], "float32"))
    Array([ 1., -2.], dtype=float32)
    """
    if category(input.dtype) == 1:
        return input
    out = lax.floor(input)
    return jnp.where((out == 0) & negative(input), -1, out)  # subnormal numbers


@operator(accepts=Accepts.REAL_NUMBER)
def ceil(input: ArrayLike) -> Array:
    r"""Smallest integer not below each element $x_i$ of `input`, $\lceil x_i \rceil$.

    The gradient is 0.

    Dtypes: that of `input`; integers stay as they are. Errors: TypeError for bools and complex
    numbers.

    >>> functx.ceil(jnp.asarray([1.5, -1.5], "float32"))
    Array([ 2., -1.], dtype=float32)
    """
    if category(input.dtype) == 1:
        return input
    out = lax.ceil(input)
    return jnp.where((out == 0) & positive(input), 1, out)  # subnormal numbers


@operator(accepts=Accepts.REAL_NUMBER, aliases=("fix",))
def trunc(input: ArrayLike) -> Array:
    """Integer part of each element of `input`: rounded towards zero. The gradient is 0.

    Dtypes: that of `input`; integers stay as they are. Errors: TypeError for bools and complex
    numbers.

    >>> functx.trunc(jnp.asarray([1.5, -1.5], "float32"))
    Array([ 1., -1.], dtype=float32)
    """
    return input if category(input.dtype) == 1 else jnp.trunc(input)


@operator(accepts=Accepts.FLOATING)
def frac(input: ArrayLike) -> Array:
    r"""Fraction of each element $x_i$ of `input`, with its sign: $x_i - \mathrm{trunc}(x_i)$.

    The gradient is 1. Errors: TypeError for other than floating dtypes.

    >>> functx.frac(jnp.asarray([1.5, -2.25], "float32"))
    Array([ 0.5 , -0.25], dtype=float32)
    """
    return input - lax.stop_gradient(jnp.trunc(input))


@operator(accepts=Accepts.REAL_NUMBER, aliases=("special.round",))
def round(input: ArrayLike, *, decimals: int = 0) -> Array:
    r"""Nearest integer to each element $x_i$ of `input`; halves go to the even one.

    - `decimals`: how many decimal places $d$ to keep, $\mathrm{round}(10^d x_i) / 10^d$; negative
      numbers round to powers of ten.

    The gradient is 0.

    Dtypes: that of `input`; integers stay as they are.
    Errors: TypeError for bools and complex numbers, and for integers with `decimals`.

    >>> functx.round(jnp.asarray([0.5, 1.5, 2.125], "float32"))
    Array([0., 2., 2.], dtype=float32)
    """
    if category(input.dtype) == 1:
        if decimals != 0:
            refuse(f"`decimals` must be 0 for integers, got {decimals}", error=TypeError)
        return input
    if decimals == 0:
        return lax.round(input, lax.RoundingMethod.TO_NEAREST_EVEN)
    with np.errstate(over="ignore"):
        scale = np.power(10.0, np.abs(decimals)).astype(input.dtype)
    scaled = input * scale if decimals > 0 else quotient(input, scale)
    whole = lax.round(scaled, lax.RoundingMethod.TO_NEAREST_EVEN)
    return quotient(whole, scale) if decimals > 0 else whole * scale
