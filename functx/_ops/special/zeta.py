"""The Hurwitz zeta function, and the polygamma functions, which are multiples of it."""

from __future__ import annotations

import functools as ft
from typing import Any, overload

import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayLike, ArrayOnly, operator, Promote, refuse
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.pointwise.gamma_slopes import digamma_function, trigamma

from .hurwitz import polygamma_sum, zeta_in_exponent
from .slopes import PointwiseFunction, with_slopes
from .wide import widened


__all__ = ["polygamma", "zeta"]


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.WHOLE_REAL, needs_array=True)
def zeta(input: ArrayLike, other: ArrayLike) -> Array:
    r"""Hurwitz zeta function of `input` $x$ and `other` $q$.

    This is $\zeta(x, q) = \sum_{k \ge 0} (q + k)^{-x}$. It is defined for $x > 1$; it is infinite
    at 1, and NaN below. Where $q$ is a negative integer or 0 it is infinite; at other negative
    numbers it needs a whole $x$, and is NaN for others. Where $x$ or $q$ is infinite it is the
    limit (in PyTorch often NaN). It is summed as Euler and Maclaurin do.

    Shapes: `input` and `other` broadcast.
    Dtypes: float32 and float64; bools and integers give the default dtype.
    Errors: TypeError for float16, bfloat16 and complex numbers.
    Derivatives: in $q$ it is $-x\,\zeta(x + 1, q)$, in $x$ that of the sum, where $q$ is positive
    (PyTorch has none).

    >>> functx.special.zeta(jnp.asarray([2.0, 4.0], "float32"), 1)
    Array([1.644934 , 1.0823232], dtype=float32)
    """
    return _zeta(0, 0)(*jnp.broadcast_arrays(input, other))


def _method_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Reads `polygamma(x, n)`, the order of PyTorch's method, as `polygamma(n, x)`."""
    if len(args) == 2 and isinstance(args[1], int) and hasattr(args[0], "dtype"):
        args = args[::-1]
    return args, kwargs


@overload
def polygamma(n: int, input: ArrayOnly) -> Array: ...
@overload
def polygamma(n: ArrayOnly, input: int) -> Array: ...
@operator(
    name="polygamma",
    promote=Promote.INT_TO_FLOAT,
    accepts=Accepts.REAL,
    aliases=("special.polygamma",),
    other_signatures=_method_form,
)
def polygamma(n: int, input: ArrayOnly) -> Array:
    r"""Derivative of `digamma` of order $n$ at each element of `input`.

    This is $(-1)^{n+1} n! \, \zeta(n + 1, x_i)$. At 0 and at negative integers it is $+\infty$ for
    odd $n$, $-\infty$ for even ones, and as `digamma` for 0. It is 0 at infinity, where PyTorch has
    NaN, and for $n > 34$ it stays finite in float32, where PyTorch's $n!$ does not.

    - `n`: the order, an integer from 0 on. `polygamma(x, n)`, the order of arguments of PyTorch's
      method, is understood if `x` is an array.

    Dtypes: bools and integers give the default dtype.
    Errors: TypeError for complex numbers and where `n` is no int, RuntimeError where `n` is
    negative.

    >>> functx.polygamma(1, jnp.asarray([1.0, 2.0], "float32"))
    Array([1.644934  , 0.64493406], dtype=float32)
    """
    if not isinstance(n, int) or isinstance(n, bool):
        refuse(f"`n` must be an int, got {n!r}", error=TypeError)
    if n < 0:
        refuse(f"`n` must not be negative, got {n}")
    return _polygamma(n)(input) if n else digamma_function(input)


@ft.lru_cache
def _zeta(order: int, offset: int) -> PointwiseFunction:
    """The derivative of `order` in the exponent, to which `offset` is added."""

    def slopes(s: Array, q: Array, output: Array) -> tuple[Array, Array]:
        # $\partial_q \partial_s^k \zeta(s, q) = \partial_s^k (-s \zeta(s + 1, q))$.
        in_q = -(s + offset) * _zeta(order, offset + 1)(s, q)
        if order:
            in_q = in_q - order * _zeta(order - 1, offset + 1)(s, q)
        return _zeta(order + 1, offset)(s, q), in_q

    forward = widened(ft.partial(zeta_in_exponent, order, offset))
    return with_slopes(forward, slopes, "special.zeta")


@ft.lru_cache
def _polygamma(n: int) -> PointwiseFunction:
    """The polygamma function of order `n` > 0, with derivatives of all orders."""

    def forward(x: Array) -> Array:
        # PyTorch takes large negative numbers for poles where $n > 1$.
        out = widened(trigamma if n == 1 else ft.partial(polygamma_sum, n))(x)
        return out if n % 2 else -out

    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: tangents[0] * _polygamma(n + 1)(primals[0]),
        name="polygamma",
    )
