"""Quotients and remainders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    ArrayOnly,
    ArrayOrUnroundedNumber,
    Autocast,
    category,
    compute_and_result,
    converted,
    describe,
    is_number,
    operator,
    Promote,
    promoted,
    refuse,
    Requirement,
    result_dtype,
    UnpromotedArray,
    value_fits,
)
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.quotients import quotient

from .operands import nonzero_divisor
from .remainders import truncated_remainder


__all__ = ["addcdiv", "div", "floor_divide", "fmod", "reciprocal", "remainder"]


def _nonzero_if_rounded(*, rounding_mode: str | None, **operands: Any) -> Iterator[Requirement]:
    if rounding_mode is not None:
        yield from nonzero_divisor(**operands)


# The rounding mode decides how dtypes promote, hence `Promote.NONE`: the rule does it.
@operator(promote=Promote.NONE, requires=_nonzero_if_rounded, aliases=("divide", "true_divide"))
def div(
    input: ArrayLike,
    other: ArrayOrUnroundedNumber,
    *,
    rounding_mode: Literal["trunc", "floor"] | None = None,
) -> Array:
    """Quotient of the elements $x$ of `input` and $z$ of `other`: $y = x / z$.

    - `rounding_mode`: `None` for the quotient itself; `"trunc"` rounds it towards zero, `"floor"`
      down, and the gradient is then 0.

    Beside float16 and bfloat16 arrays, an `other` without dimensions keeps the digits that these
    dtypes lack; an `input` without dimensions is rounded to them first, as in PyTorch.

    Shapes: `input` and `other` broadcast.
    Dtypes: the common dtype. Integers give the default dtype, or integers if the quotient is
    rounded.
    Errors: ValueError for another `rounding_mode`, TypeError for bools and complex numbers with
    one, RuntimeError for a zero in an integer `other` whose values are at hand.

    >>> functx.div(jnp.asarray([7, -7], "int32"), 2)
    Array([ 3.5, -3.5], dtype=float32)
    >>> functx.div(jnp.asarray([7, -7], "int32"), 2, rounding_mode="floor")
    Array([ 3, -4], dtype=int32)
    """
    if rounding_mode not in (None, "trunc", "floor"):
        refuse(
            f"`rounding_mode` must be None, 'trunc' or 'floor', got {rounding_mode!r}",
            error=ValueError,
        )
    kind = Promote.INT_TO_FLOAT if rounding_mode is None else Promote.DEFAULT
    compute, result = compute_and_result(kind, result_dtype([input, other]))
    x = promoted(input, result, compute)
    y = promoted(other, result, compute, unrounded=True)
    if rounding_mode is None:
        return lax.convert_element_type(quotient(x, y), result)
    _check_real_number(compute)
    if rounding_mode == "floor":
        return lax.convert_element_type(_floored(x, y), result)
    return _truncated(x, y, result)


@operator(accepts=Accepts.REAL, requires=nonzero_divisor)
def floor_divide(input: ArrayLike, other: ArrayOrUnroundedNumber) -> Array:
    r"""Quotient of the elements of `input` and `other`, rounded down.

    This is $y = \lfloor x / z \rfloor$, with $x$ for `input` and $z$ for `other`.

    The gradient is 0 (PyTorch has none).

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for bools and complex numbers, RuntimeError for a zero in an integer `other`
    whose values are at hand.

    >>> functx.floor_divide(jnp.asarray([7.0, -7.0], "float32"), 2)
    Array([ 3., -4.], dtype=float32)
    """
    _check_real_number(input.dtype)
    return _floored(input, other)


@operator(accepts=Accepts.REAL, requires=nonzero_divisor, needs_array=True)
def remainder(input: ArrayLike, other: ArrayLike) -> Array:
    r"""Remainder of floored division: $y = x - z \lfloor x / z \rfloor$.

    $x$ is `input` and $z$ is `other`. The remainder has the sign of `other`, as that of Python's
    `%` has.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for bools and complex numbers, RuntimeError for a zero in an integer `other`
    whose values are at hand.

    >>> functx.remainder(jnp.asarray([7.0, -7.0], "float32"), 4)
    Array([3., 1.], dtype=float32)
    """
    _check_real_number(input.dtype)
    return _remainder(*jnp.broadcast_arrays(input, other))


@operator(accepts=Accepts.REAL, requires=nonzero_divisor)
def fmod(input: ArrayOnly, other: ArrayLike) -> Array:
    r"""Remainder of truncated division: $y = x - z \cdot \mathrm{trunc}(x / z)$.

    $x$ is `input` and $z$ is `other`. The remainder has the sign of `input`, as that of C's `fmod`
    has.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for bools and complex numbers, RuntimeError for a zero in an integer `other`
    whose values are at hand.

    >>> functx.fmod(jnp.asarray([7.0, -7.0], "float32"), 4)
    Array([ 3., -3.], dtype=float32)
    """
    _check_real_number(input.dtype)
    x, y = jnp.broadcast_arrays(input, other)
    return lax.rem(x, y) if category(x.dtype) == 1 else _fmod(x, y)


@operator(promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def reciprocal(input: ArrayLike) -> Array:
    """Reciprocal of each element $x_i$ of `input`: $1 / x_i$.

    Dtypes: bools and integers give the default dtype.

    >>> functx.reciprocal(jnp.asarray([2, 4], "int32"))
    Array([0.5 , 0.25], dtype=float32)
    """
    return quotient(jnp.ones_like(input), input)


def _value_fits(*, value: Any, **operands: Any) -> Iterator[Requirement]:
    if is_number(value):
        yield value_fits(value, accumulator(result_dtype(operands.values())), "value")


# Whether integers are divided shows before they promote, hence `Promote.NONE`.
@operator(
    promote=Promote.NONE, requires=_value_fits, autocast=Autocast.WIDEST, autocast_cpu=Autocast.KEEP
)
def addcdiv(
    input: ArrayOnly, tensor1: ArrayOnly, tensor2: ArrayOnly, *, value: UnpromotedArray = 1
) -> Array:
    """Adds the quotient of `tensor1` by `tensor2`, scaled by `value`, to `input`.

    This is $y = x + v a / b$, with $x$ for `input`, $v$ for `value`, $a$ for `tensor1`, $b$ for
    `tensor2`.

    - `value`: a number or a 0-d array, real beside real arrays; 1 by default.

    Shapes: `input`, `tensor1` and `tensor2` broadcast.
    Dtypes: the arrays promote to their common dtype.
    Errors: RuntimeError where neither `tensor1` nor `tensor2` is floating or complex, since
    integers are not divided; TypeError for another `value`.

    >>> ones = jnp.ones(2, "float32")
    >>> functx.addcdiv(ones, ones, 4 * ones, value=2)
    Array([1.5, 1.5], dtype=float32)
    """
    if max(category(tensor1.dtype), category(tensor2.dtype)) < 2:
        refuse(
            "`tensor1` or `tensor2` must be floating or complex, "
            f"got {describe(tensor1)} and {describe(tensor2)}",
            hint="addcmul with div(..., rounding_mode='trunc') divides integers",
        )
    arrays = [input, tensor1, tensor2]
    compute, result = compute_and_result(Promote.DEFAULT, result_dtype(arrays))
    value = jnp.asarray(value)
    if value.ndim or category(value.dtype) > category(compute):
        refuse(
            f"`value` must be a number or 0-d, and real beside real arrays, got {describe(value)}",
            error=TypeError,
        )
    # Otherwise a slope multiplies the sum over broadcast elements: infinity times 0 of no elements.
    input, tensor1, tensor2 = jnp.broadcast_arrays(*(promoted(x, result, compute) for x in arrays))
    scaled = converted(value, compute) * tensor1
    return lax.convert_element_type(input + quotient(scaled, tensor2), result)


def _check_real_number(dtype: np.dtype) -> None:
    if category(dtype) in (0, 3):
        refuse(
            f"expected real numbers, got {np.dtype(dtype).name} arrays",
            hint="only `div` without rounding takes them",
            error=TypeError,
        )


def _truncated(x: Array, y: Array, result: np.dtype) -> Array:
    one_divisor = y.ndim == 0
    x, y = map(lax.stop_gradient, jnp.broadcast_arrays(x, y))
    if category(x.dtype) == 1:
        return lax.div(x, y)
    # PyTorch rounds the quotient to halves before it truncates it, but by a 0-d divisor.
    exact = quotient(x, y)
    return jnp.trunc(exact if one_divisor else exact.astype(result)).astype(result)


def _floored(x: Array, y: Array) -> Array:
    x, y = map(lax.stop_gradient, jnp.broadcast_arrays(x, y))
    if category(x.dtype) == 1:
        inexact = (lax.rem(x, y) != 0) & ((x < 0) != (y < 0))
        return lax.div(x, y) - inexact.astype(x.dtype)
    # x / y may round up to an integer; what `rem` leaves is exact, so divide without it.
    left = truncated_remainder(x, y)
    below = ((left != 0) & ((y < 0) != (left < 0))).astype(x.dtype)
    exact = quotient(x - left, y) - below
    whole = lax.round(exact, lax.RoundingMethod.TO_NEAREST_EVEN)
    inexact = quotient(x, y)
    signed_zero = jnp.copysign(jnp.zeros_like(x), inexact)
    return jnp.where(y == 0, inexact, jnp.where(exact == 0, signed_zero, whole))


def _remainder_of(x: Array, y: Array) -> Array:
    left = truncated_remainder(x, y)
    return jnp.where((left != 0) & ((y < 0) != (left < 0)), left + y, left)


# The derivative of `rem` goes by x / y, which may round to the next integer.
_with_slope = derivative_rules(
    _remainder_of,
    vjp=lambda primals, output, cotangent: (cotangent, -cotangent * _floored(*primals)),
    name="remainder",
)


def _remainder(x: Array, y: Array) -> Array:
    return (_remainder_of if category(x.dtype) == 1 else _with_slope)(x, y)


def _whole_quotient(x: Array, y: Array) -> Array:
    # x / y may round up to an integer; what `rem` leaves is exact, so divide without it.
    exact = quotient(x - truncated_remainder(x, y), y)
    whole = lax.round(exact, lax.RoundingMethod.TO_NEAREST_EVEN)
    return jnp.where((y == 0) | jnp.isinf(x), quotient(x, y), whole)


_fmod = derivative_rules(
    truncated_remainder,
    vjp=lambda primals, output, cotangent: (cotangent, -cotangent * _whole_quotient(*primals)),
    name="fmod",
)
