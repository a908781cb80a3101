"""The norms that sums of powers give, and their conventions at zeros and ties."""

from __future__ import annotations

import functools as ft
import math
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import category, describe, real_of, refuse
from functx._core.order import greatest, least, nonzero
from functx._ops.magnitude import magnitude

from .ties import shared_evenly


def vector_norm(input: Array, p: float, dim: Any, kept: Array | None = None) -> Array:
    r"""$(\sum_i |x_i|^p)^{1/p}$ over the non-negative dimensions `dim`, with its conventions.

    Elements that are not `kept`, if that is said, must be 0, for negative `p` infinite.
    """
    axes = tuple(dim)
    if (p < 0 or p == math.inf) and math.prod(input.shape[axis] for axis in axes) == 0:
        refuse(f"expected elements to choose from for p={p}, got {describe(input)}")
    if p == 0:
        return jnp.sum(nonzero(input), axis=axes, dtype=real_of(input.dtype))
    if math.isinf(p):
        choose = ft.partial(greatest if p > 0 else least, axis=axes)
        return shared_evenly(choose, axes, kept)(magnitude(input))
    if p == 1:
        return jnp.sum(magnitude(input), axis=axes)
    if p > 0 and p % 2 == 0:
        powers = lax.integer_pow(_squares(input), int(p) // 2)
    else:
        zero = input == 0
        # Away from 0, where powers have finite derivatives; there, the term is a constant.
        powers = magnitude(jnp.where(zero, 1, input)) ** p
        powers = jnp.where(zero, 0 if p > 0 else jnp.inf, powers)
        # The absolute value is flat at NaN and the term at 0, squares are not: NaN has no slope,
        # nor has what is beside it.
        nan = input != input
        nan |= zero & jnp.any(nan, axis=axes, keepdims=True)
        powers = jnp.where(nan, _squares(jnp.where(nan, input, 0)), powers)
    total = jnp.sum(powers, axis=axes)
    none = total == 0
    safe = jnp.where(none, 1, total)
    of_none = jnp.inf if p < 0 else 0  # negative powers of infinities are 0
    return jnp.where(none, of_none, lax.sqrt(safe) if p == 2 else safe ** (1 / p))


def _squares(x: Array) -> Array:
    if category(x.dtype) == 3:
        return lax.square(lax.real(x)) + lax.square(lax.imag(x))
    return lax.square(x)
