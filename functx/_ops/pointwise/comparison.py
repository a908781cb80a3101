"""Comparisons, tests of single elements, and logic on truth values."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from functx._core import Accepts, ArrayLike, ArrayOnly, category, operator, Promote
from functx._core.numbers.bitwise_comparison import at_most, bits, equal, less, nonzero


__all__ = [
    "eq",
    "ge",
    "gt",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "le",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
    "signbit",
]


@operator(promote=Promote.ALWAYS_BOOL, differentiable=False)
def eq(input: ArrayOnly, other: ArrayLike) -> Array:
    """Whether each element of `input` equals that of `other`. NaN equals nothing.

    Shapes: `input` and `other` broadcast. Dtypes: bool; elements are compared in the common dtype.

    >>> functx.eq(jnp.asarray([1, 2]), 2)
    Array([False,  True], dtype=bool)
    """
    return equal(input, other)


@operator(promote=Promote.ALWAYS_BOOL, differentiable=False, aliases=("not_equal",))
def ne(input: ArrayOnly, other: ArrayLike) -> Array:
    """Whether each element of `input` differs from that of `other`. NaN differs from everything.

    Shapes: `input` and `other` broadcast. Dtypes: bool; elements are compared in the common dtype.

    >>> functx.ne(jnp.asarray([1, 2]), 2)
    Array([ True, False], dtype=bool)
    """
    return ~equal(input, other)


@operator(
    promote=Promote.ALWAYS_BOOL,
    accepts=Accepts.REAL,
    differentiable=False,
    aliases=("less",),
)
def lt(input: ArrayOnly, other: ArrayLike) -> Array:
    """Whether each element of `input` is less than that of `other`. Beside NaN it is not.

    Shapes: `input` and `other` broadcast. Dtypes: bool; elements are compared in the common dtype.
    Errors: TypeError for complex numbers.

    >>> functx.lt(jnp.asarray([1, 2]), 2)
    Array([ True, False], dtype=bool)
    """
    return less(input, other)


@operator(
    promote=Promote.ALWAYS_BOOL,
    accepts=Accepts.REAL,
    differentiable=False,
    aliases=("less_equal",),
)
def le(input: ArrayOnly, other: ArrayLike) -> Array:
    """Whether each element of `input` is at most that of `other`. Beside NaN it is not.

    Shapes: `input` and `other` broadcast. Dtypes: bool; elements are compared in the common dtype.
    Errors: TypeError for complex numbers.

    >>> functx.le(jnp.asarray([1, 2, 3]), 2)
    Array([ True,  True, False], dtype=bool)
    """
    return at_most(input, other)


@operator(
    promote=Promote.ALWAYS_BOOL,
    accepts=Accepts.REAL,
    differentiable=False,
    aliases=("greater",),
)
def gt(input: ArrayOnly, other: ArrayLike) -> Array:
    """Whether each element of `input` is greater than that of `other`. Beside NaN it is not.

    Shapes: `input` and `other` broadcast. Dtypes: bool; elements are compared in the common dtype.
    Errors: TypeError for complex numbers.

    >>> functx.gt(jnp.asarray([1, 3]), 2)
    Array([False,  True], dtype=bool)
    """
    return less(other, input)


@operator(
    promote=Promote.ALWAYS_BOOL,
    accepts=Accepts.REAL,
    differentiable=False,
    aliases=("greater_equal",),
)
def ge(input: ArrayOnly, other: ArrayLike) -> Array:
    """Whether each element of `input` is at least that of `other`. Beside NaN it is not.

    Shapes: `input` and `other` broadcast. Dtypes: bool; elements are compared in the common dtype.
    Errors: TypeError for complex numbers.

    >>> functx.ge(jnp.asarray([1, 2, 3]), 2)
    Array([False,  True,  True], dtype=bool)
    """
    return at_most(other, input)


@operator(promote=Promote.ALWAYS_BOOL, differentiable=False)
def isnan(input: ArrayLike) -> Array:
    """Whether each element of `input` is NaN; for a complex number, whether either part is.

    >>> functx.isnan(jnp.asarray([1.0, jnp.nan]))
    Array([False,  True], dtype=bool)
    """
    return input != input


@operator(promote=Promote.ALWAYS_BOOL, differentiable=False)
def isfinite(input: ArrayLike) -> Array:
    """Whether each element of `input` is finite: not infinite, and not NaN.

    A complex number is finite if both parts are.

    >>> functx.isfinite(jnp.asarray([1.0, jnp.inf]))
    Array([ True, False], dtype=bool)
    """
    return jnp.isfinite(input)


@operator(promote=Promote.ALWAYS_BOOL, differentiable=False)
def isinf(input: ArrayLike) -> Array:
    """Whether each element of `input` is infinite; for a complex number, whether either part is.

    >>> functx.isinf(jnp.asarray([1.0, -jnp.inf, jnp.nan]))
    Array([False,  True, False], dtype=bool)
    """
    return jnp.isinf(input)


@operator(promote=Promote.ALWAYS_BOOL, accepts=Accepts.REAL, differentiable=False)
def isposinf(input: ArrayLike) -> Array:
    """Whether each element of `input` is positive infinity. Errors: TypeError for complex numbers.

    >>> functx.isposinf(jnp.asarray([jnp.inf, -jnp.inf]))
    Array([ True, False], dtype=bool)
    """
    return _is(jnp.inf, input)


@operator(promote=Promote.ALWAYS_BOOL, accepts=Accepts.REAL, differentiable=False)
def isneginf(input: ArrayLike) -> Array:
    """Whether each element of `input` is negative infinity. Errors: TypeError for complex numbers.

    >>> functx.isneginf(jnp.asarray([jnp.inf, -jnp.inf]))
    Array([False,  True], dtype=bool)
    """
    return _is(-jnp.inf, input)


def _is(infinity: float, x: Array) -> Array:
    return x == infinity if category(x.dtype) == 2 else jnp.zeros(x.shape, bool)


@operator(promote=Promote.ALWAYS_BOOL, differentiable=False)
def isreal(input: ArrayLike) -> Array:
    """Whether the imaginary part of each element of `input` is zero, as it is for real numbers.

    >>> functx.isreal(jnp.asarray([1.0 + 0.0j, 1.0j]))
    Array([ True, False], dtype=bool)
    """
    if category(input.dtype) < 3:
        return jnp.ones(input.shape, bool)
    return ~nonzero(lax.imag(input))


@operator(promote=Promote.ALWAYS_BOOL, accepts=Accepts.REAL, differentiable=False)
def signbit(input: ArrayLike) -> Array:
    """Whether the sign bit of each element of `input` is set: that of -0.0 is, that of NaN may be.

    Errors: TypeError for complex numbers.

    >>> functx.signbit(jnp.asarray([-1.0, -0.0, 0.0]))
    Array([ True,  True, False], dtype=bool)
    """
    return jnp.zeros_like(input) if category(input.dtype) == 0 else bits(input) < 0


@operator(promote=Promote.ALWAYS_BOOL, differentiable=False)
def logical_and(input: ArrayOnly, other: ArrayOnly) -> Array:
    """Whether the elements of `input` and `other` are both nonzero. NaN is nonzero.

    Shapes: `input` and `other` broadcast. Dtypes: bool.

    >>> functx.logical_and(jnp.asarray([0, 1, 2]), jnp.asarray([1, 1, 0]))
    Array([False,  True, False], dtype=bool)
    """
    return nonzero(input) & nonzero(other)


@operator(promote=Promote.ALWAYS_BOOL, differentiable=False)
def logical_or(input: ArrayOnly, other: ArrayOnly) -> Array:
    """Whether the elements of `input` and `other` are not both zero. NaN is nonzero.

    Shapes: `input` and `other` broadcast. Dtypes: bool.

    >>> functx.logical_or(jnp.asarray([0, 1, 2]), jnp.asarray([0, 1, 0]))
    Array([False,  True,  True], dtype=bool)
    """
    return nonzero(input) | nonzero(other)


@operator(promote=Promote.ALWAYS_BOOL, differentiable=False)
def logical_xor(input: ArrayOnly, other: ArrayOnly) -> Array:
    """Whether exactly one of the elements of `input` and `other` is nonzero. NaN is nonzero.

    Shapes: `input` and `other` broadcast. Dtypes: bool.

    >>> functx.logical_xor(jnp.asarray([0, 1, 2]), jnp.asarray([0, 1, 0]))
    Array([False, False,  True], dtype=bool)
    """
    return nonzero(input) ^ nonzero(other)


@operator(promote=Promote.ALWAYS_BOOL, differentiable=False)
def logical_not(input: ArrayLike) -> Array:
    """Whether each element of `input` is zero. Dtypes: bool.

    >>> functx.logical_not(jnp.asarray([0, 1]))
    Array([ True, False], dtype=bool)
    """
    return ~nonzero(input)
