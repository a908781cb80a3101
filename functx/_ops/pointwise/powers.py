"""Powers and roots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    Autocast,
    available,
    category,
    converted,
    equally_varying,
    is_number,
    operator,
    platform_dependent,
    Promote,
    refuse,
    Requirement,
    result_dtype,
    value_fits,
)
from functx._core.rules.custom_derivatives import derivative_rules

from .branch_cuts import square_root
from .operands import check_floating
from .power_slopes import raised


__all__ = ["float_power", "hypot", "pow", "rsqrt", "sqrt", "square"]


@operator(promote=Promote.INT_TO_FLOAT)
def sqrt(input: ArrayLike) -> Array:
    r"""Square root of each element $x_i$ of `input`, $\sqrt{x_i}$; NaN for real numbers below zero.

    The real part of a complex root is not negative. On the branch cut, the negative real axis, the
    sign of the imaginary part, also of a zero, decides.

    Dtypes: bools and integers give the default dtype.

    >>> functx.sqrt(jnp.asarray([4, 9], "int32"))
    Array([2., 3.], dtype=float32)
    """
    return square_root(input)


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def rsqrt(input: ArrayLike) -> Array:
    r"""Reciprocal square root of each element $x_i$ of `input`, $1 / \sqrt{x_i}$.

    Dtypes: bools and integers give the default dtype.

    >>> functx.rsqrt(jnp.asarray([4, 16], "int32"))
    Array([0.5 , 0.25], dtype=float32)
    """
    return lax.rsqrt(input) if category(input.dtype) == 3 else _rsqrt(input)


def _inverse_root(x: Array) -> Array:
    # XLA's `rsqrt` takes five times as long. The barrier keeps XLA from fusing these two into it.
    return 1 / lax.optimization_barrier(lax.sqrt(x))


_rsqrt = derivative_rules(
    lambda x: platform_dependent(x, cpu=_inverse_root, default=lax.rsqrt),
    jvp=lambda primals, output, tangents: tangents[0] * (-0.5 * (output / primals[0])),
    name="rsqrt",
)


@operator(promote=Promote.BOOL_TO_LONG, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def square(input: ArrayLike) -> Array:
    """Square of each element $x_i$ of `input`, $x_i^2$, without conjugation. Bools give int64.

    >>> functx.square(jnp.asarray([2.0, -3.0], "float32"))
    Array([4., 9.], dtype=float32)
    """
    return input * input


@operator(accepts=Accepts.REAL)
def hypot(input: ArrayOnly, other: ArrayOnly) -> Array:
    r"""Length of the hypotenuse over the legs `input` $x$ and `other` $z$: $\sqrt{x^2 + z^2}$.

    It is infinite where either leg is, even beside NaN. The gradient at the origin is NaN.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype, which must be floating.
    Errors: TypeError for bools, integers and complex numbers.

    >>> functx.hypot(jnp.asarray([3.0, 1e30], "float32"), jnp.asarray([4.0, 0.0], "float32"))
    Array([5.e+00, 1.e+30], dtype=float32)
    """
    check_floating(input.dtype)
    return _hypot(*jnp.broadcast_arrays(input, other))


def _length(x: Array, y: Array) -> Array:
    # Squares may leave the range; XLA's modulus of complex numbers does not take them.
    infinite = jnp.isinf(x) | jnp.isinf(y)
    return jnp.where(infinite, jnp.inf, lax.abs(lax.complex(x, y)))


_hypot = derivative_rules(
    _length,
    jvp=lambda primals, output, tangents: (
        tangents[0] * (primals[0] / output) + tangents[1] * (primals[1] / output)
    ),
    name="hypot",
)


def _exponent_is_a_power(input: Any, exponent: Any) -> Iterator[Requirement]:
    # PyTorch refuses a negative number; arrays give what truncation leaves.
    dtype = result_dtype([input, exponent])
    if is_number(exponent) and (dtype.itemsize <= 2 or category(dtype) == 1):
        yield value_fits(exponent, dtype, "exponent")
    integral = category(input.dtype) < 2 and category(exponent.dtype) == 1
    if integral and is_number(exponent):
        yield Requirement(
            exponent >= 0,
            "`exponent` must not be negative for integers, got {got}",
            got=exponent,
            hint="functx.pow(x, -1.0) gives floats",
        )


@operator(
    accepts=Accepts.ANY,
    requires=_exponent_is_a_power,
    needs_array=True,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def pow(input: ArrayLike, exponent: ArrayLike) -> Array:
    r"""Each element $x$ of `input` raised to the power `exponent`: $y = x^e$. $0^0 = 1$.

    Where $x = 0$ the gradient for `exponent` is 0, or $-\infty$ if $e < 0$; where $x < 0$ it is
    NaN, since $x^e$ is real for integer $e$ only. Where $e = 0$ the gradient for `input` is 0, at
    $x = 0$ and at NaN too. Second derivatives are symmetric there (not in PyTorch).

    Shapes: `input` and `exponent` broadcast; either may be a number.
    Dtypes: both promote to their common dtype. Integers wrap; a negative `exponent` in an array of
    integers gives what truncation leaves: 0, 1 or -1.
    Errors: TypeError for bools alone, RuntimeError for a negative number as `exponent` of integers.

    >>> functx.pow(jnp.asarray([2.0, 3.0], "float32"), 2)
    Array([4., 9.], dtype=float32)
    """
    if category(input.dtype) == 0:
        refuse("expected arrays of numbers, got bools alone", error=TypeError)
    if category(input.dtype) == 2 and exponent.ndim == 0:
        return raised(input, exponent)
    x, y = jnp.broadcast_arrays(input, exponent)
    return _integer_power(x, y) if category(x.dtype) == 1 else raised(x, y)


@operator(promote=Promote.NONE, needs_array=True)
def float_power(input: ArrayLike, exponent: ArrayLike) -> Array:
    r"""Each element $x$ of `input` raised to the power `exponent` in double precision: $y = x^e$.

    Where $x = 0$ the gradient for `exponent` is 0, or $-\infty$ if $e < 0$; where $x < 0$ it is
    NaN. Where $e = 0$ the gradient for `input` is 0, at $x = 0$ and at NaN too.

    Shapes: `input` and `exponent` broadcast; either may be a number.
    Dtypes: complex128 if either is complex, else float64, whatever their widths.

    >>> functx.float_power(jnp.asarray([2, 4], "int32"), -0.5).round(2)
    Array([0.71, 0.5 ], dtype=float64)
    """
    is_complex = 3 in (category(input.dtype), category(exponent.dtype))
    dtype = available(np.complex128 if is_complex else np.float64)
    x, y = converted(input, dtype), converted(exponent, dtype)
    if y.ndim == 0:
        return raised(x, y)
    return raised(*jnp.broadcast_arrays(x, y))


def _integer_power(x: Array, y: Array) -> Array:
    """$x^y$ of integers by repeated squaring; it wraps at the range of the integers."""

    def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        power, x, y = state
        return jnp.where(y % 2 == 1, power * x, power), x * x, lax.shift_right_logical(y, 1 + 0 * y)

    start = tuple(equally_varying([jnp.ones_like(x), x, jnp.maximum(y, 0)]))
    power, _, _ = lax.while_loop(lambda state: (state[2] != 0).any(), step, start)
    odd = y % 2 == 1
    truncated = jnp.where(x == 1, 1, jnp.where(x + 1 == 0, jnp.where(odd, -1, 1), 0))
    return power if x.dtype.kind == "u" else jnp.where(y < 0, truncated.astype(x.dtype), power)
