"""Whether arrays are equal, or close to each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayOnly,
    category,
    default_float,
    describe,
    differ,
    operator,
    Promote,
    refuse,
    Requirement,
    UnpromotedArray,
)
from functx._core.numbers import bitwise_comparison as bitwise


__all__ = ["allclose", "equal", "isclose"]


@operator(promote=Promote.ALWAYS_BOOL, differentiable=False)
def equal(input: ArrayOnly, other: ArrayOnly) -> Array:
    """Whether `input` and `other` have the same shape and equal elements: a 0-d array of bool.

    PyTorch returns a Python bool, which a compiled program cannot: `bool(...)` makes it one. NaN
    equals nothing.

    Dtypes: any; elements are compared in the common dtype.

    >>> functx.equal(jnp.asarray([1, 2]), jnp.asarray([1.0, 2.0]))
    Array(True, dtype=bool)
    """
    if input.ndim != other.ndim or any(map(differ, input.shape, other.shape)):
        return jnp.zeros((), bool)
    return bitwise.equal(input, other).all()


def _tolerances_are_sizes(*, rtol: Any, atol: Any, **_: Any) -> Iterator[Requirement]:
    _check_real(rtol=rtol, atol=atol)
    for name, value in {"rtol": rtol, "atol": atol}.items():
        yield Requirement(
            bitwise.at_least_zero(value),
            f"`{name}` must not be negative, got {{got}}",
            got=value,
            error=ValueError,
        )


@operator(
    promote=Promote.SAME,
    accepts=Accepts.ANY,
    differentiable=False,
    requires=_tolerances_are_sizes,
)
def isclose(
    input: ArrayOnly,
    other: ArrayOnly,
    rtol: UnpromotedArray = 1e-05,
    atol: UnpromotedArray = 1e-08,
    equal_nan: bool = False,
) -> Array:
    r"""Whether $|x - y| \le \mathrm{atol} + \mathrm{rtol} \cdot |y|$, for each pair of elements.

    $x$ is an element of `input` and $y$ one of `other`. An infinity is close to itself alone.

    - `rtol`: the error allowed for each unit of $|y|$, a number or a 0-d array.
    - `atol`: the error allowed everywhere, a number or a 0-d array. With `rtol` and `atol` 0, only
      equal elements are close.
    - `equal_nan`: whether NaN is close to NaN.

    Shapes: `input` and `other` broadcast.
    Dtypes: both arrays must have the same. Integers, unless they are equal, are compared in the
    default dtype.
    Errors: TypeError for two dtypes, and for a tolerance that is not a real number; ValueError for
    a negative tolerance.

    >>> functx.isclose(jnp.asarray([1.0, 1.0]), jnp.asarray([1.000001, 1.1]))
    Array([ True, False], dtype=bool)
    """
    return _close(input, other, rtol, atol, equal_nan)


@operator(
    promote=Promote.SAME,
    accepts=Accepts.ANY,
    differentiable=False,
    requires=_tolerances_are_sizes,
)
def allclose(
    input: ArrayOnly,
    other: ArrayOnly,
    rtol: UnpromotedArray = 1e-05,
    atol: UnpromotedArray = 1e-08,
    equal_nan: bool = False,
) -> Array:
    r"""Whether all elements of `input` and `other` are close: a 0-d array of bool.

    Elements $x$ of `input` and $y$ of `other` are close if
    $|x - y| \le \mathrm{atol} + \mathrm{rtol} \cdot |y|$. PyTorch returns a Python bool, which a
    compiled program cannot: `bool(...)` makes it one.

    - `rtol`: the error allowed for each unit of $|y|$, a number or a 0-d array.
    - `atol`: the error allowed everywhere, a number or a 0-d array. With `rtol` and `atol` 0, only
      equal elements are close.
    - `equal_nan`: whether NaN is close to NaN.

    Shapes: `input` and `other` broadcast.
    Dtypes: both arrays must have the same. Integers, unless they are equal, are compared in the
    default dtype.
    Errors: TypeError for two dtypes, and for a tolerance that is not a real number; ValueError for
    a negative tolerance.

    >>> functx.allclose(jnp.asarray([1.0, 2.0]), jnp.asarray([1.0, 2.1]), atol=0.2)
    Array(True, dtype=bool)
    """
    return _close(input, other, rtol, atol, equal_nan).all()


def _check_real(**tolerances: Any) -> None:
    for name, value in tolerances.items():
        if jnp.ndim(value) or category(jnp.asarray(value).dtype) == 3:
            refuse(f"`{name}` must be a real number, got {describe(value)}", error=TypeError)


def _close(x: Array, y: Array, rtol: Any, atol: Any, equal_nan: bool) -> Array:
    _check_real(rtol=rtol, atol=atol)
    alike = bitwise.equal(x, y)
    if equal_nan:
        alike = alike | ((x != x) & (y != y))
    wide = accumulator(default_float() if category(x.dtype) < 2 else x.dtype)
    near = _within(x.astype(wide), y.astype(wide), jnp.asarray(rtol), jnp.asarray(atol))
    tolerant = bitwise.nonzero(jnp.asarray(rtol)) | bitwise.nonzero(jnp.asarray(atol))
    return alike | (near & tolerant)


def _within(x: Array, y: Array, rtol: Array, atol: Array) -> Array:
    """Whether the error is finite and allowed, exactly decided also for subnormal errors."""
    info = jnp.finfo(x.dtype)
    places = info.nmant + 2
    limit = 2.0 ** (info.minexp + places)  # errors between larger numbers are not subnormal
    small = (_size(x) < limit) & (_size(y) < limit)
    x, y = (jnp.where(small, _grown(z, places), z) for z in (x, y))
    if category(atol.dtype) < 2:
        atol = atol.astype(info.dtype)
    atol = jnp.where(small, _grown(atol, places), atol).astype(info.dtype)
    error, allowed = lax.abs(x - y), atol + rtol.astype(info.dtype) * lax.abs(y)
    return jnp.isfinite(error) & (error <= allowed)


def _size(x: Array) -> Array:
    if category(x.dtype) < 3:
        return lax.abs(x)
    return lax.max(lax.abs(lax.real(x)), lax.abs(lax.imag(x)))


def _grown(x: Array, places: int) -> Array:
    r"""Small numbers times $2^{\mathrm{places}}$; subnormal numbers are multiplied too."""
    if category(x.dtype) == 3:
        return lax.complex(_grown(lax.real(x), places), _grown(lax.imag(x), places))
    info = jnp.finfo(x.dtype)
    signed = bitwise.bits(x)
    sizes = signed & signed.dtype.type(np.iinfo(signed.dtype).max)
    # The bits of a subnormal number, as an integer, are its multiple of the smallest one.
    least = np.asarray(2.0 ** (info.minexp - info.nmant + places), x.dtype)
    multiple = jnp.where(signed < 0, -least, least) * sizes.astype(x.dtype)
    subnormal = sizes < signed.dtype.type(1 << info.nmant)
    return jnp.where(subnormal, multiple, x * np.asarray(2.0**places, x.dtype))
