r"""The curves of window functions, for places $0 \le n < M$ within the length $N$."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    as_dtype,
    as_number,
    available,
    category,
    decided,
    default_float,
    describe,
    known,
    refuse,
    Size,
)
from functx._core.rules.custom_derivatives import derivative_rules


def result_dtype_of(dtype: Any, allowed: tuple[str, ...] = ("float32", "float64")) -> np.dtype:
    """The dtype of a window; one that is not `allowed` is refused."""
    out = as_dtype(dtype or default_float())
    if out.name not in allowed:
        refuse(f"`dtype` must be {' or '.join(allowed)}, got {out.name}", error=TypeError)
    return out


def places(count: Size, symmetric: bool, name: str) -> tuple[Array, Any]:
    """The places $n$ in the dtype of computation, and the length $N$.

    $N$ is `count`, or `count` - 1 if the window is `symmetric`.
    """
    if known(count) and not isinstance(count, int):
        refuse(f"`{name}` must be an int, got {describe(count)}", error=TypeError)
    if decided(lambda: count < 0, otherwise=False):
        refuse(f"`{name}` must not be negative, got {count}", error=ValueError)
    n = lax.iota(available(np.float64), count)
    if known(count):
        return n, float(max(count - 1, 0) if symmetric or count == 1 else count)
    last = as_number(count, n.dtype)
    return n, jnp.where((last == 1) | symmetric, jnp.maximum(last - 1, 0), last)


def _of_several(curve: Callable[[Any], Array], n: Array, last: Any) -> Array:
    """`curve(last)`, and 1 if there is one place alone."""
    (count,) = n.shape
    if known(count):
        return jnp.ones_like(n) if count < 2 else curve(last)
    return jnp.where(last > 0, curve(jnp.maximum(last, 1)), 1)


def triangle(n: Array, last: Any) -> Array:
    """$1 - |2 n / N - 1|$, and 1 if there is one place alone."""
    return _of_several(lambda last: 2 * jnp.minimum(n, last - n) / last, n, last)


def cosines(n: Array, last: Any, coefficients: Array) -> Array:
    r"""$\sum_i (-1)^i a_i \cos(2 \pi i n / N)$, and 1 if there is one place alone."""

    def curve(last: Any) -> Array:
        i = lax.iota(n.dtype, len(coefficients))[:, None]
        signs = jnp.where(i % 2 == 0, 1, -1)
        angle = 2 * math.pi / last * jnp.minimum(n, last - n)
        return jnp.sum(signs * coefficients[:, None] * jnp.cos(i * angle), axis=0)

    return _of_several(curve, n, last)


def hump(n: Array, last: Any, beta: Array) -> Array:
    r"""$I_0(\beta s) / I_0(\beta)$ with $s^2 = 1 - (2 n / N - 1)^2$, and 1 for one place alone."""

    def curve(last: Any) -> Array:
        s = 2 * jnp.sqrt(n * (last - n)) / last
        return _scaled_i0(beta * s) / _scaled_i0(beta) * jnp.exp(beta * (s - 1))

    return _of_several(curve, n, last)


# $e^{-x} I_0(x)$ for $x \ge 0$: the slope at 0 is that of the right side.
_scaled_i0 = derivative_rules(
    lax.bessel_i0e,
    jvp=lambda primals, output, tangents: (lax.bessel_i1e(*primals) - output) * tangents[0],
    name="i0e",
)


def number(x: Any, name: str) -> Array:
    """The real number or 0-d array `x` in the dtype of computation; anything else is refused."""
    x = jnp.asarray(x)
    if x.ndim or category(x.dtype) == 3:
        refuse(f"`{name}` must be a real number or a 0-d array, got {describe(x)}", error=TypeError)
    return lax.convert_element_type(x, available(np.float64))
