"""Choices between values: bounds, the larger or smaller of two, conditions, replacements of NaN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    ArrayOnly,
    available,
    category,
    describe,
    LONG,
    Mask,
    operator,
    Promote,
    refuse,
    Requirement,
    result_dtype,
    Scalar,
    UnpromotedArray,
)
from functx._core.numbers import bitwise_comparison as bitwise
from functx._core.numbers.bitwise_comparison import at_most, less, nonzero
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.extremes import larger, smaller

from .operands import numbers_fit


__all__ = [
    "clamp",
    "clamp_max",
    "clamp_min",
    "fmax",
    "fmin",
    "maximum",
    "minimum",
    "nan_to_num",
    "where",
]


@operator(accepts=Accepts.REAL)
def maximum(input: ArrayOnly, other: ArrayOnly) -> Array:
    """Larger one of the elements of `input` and `other`; NaN if either is.

    Where they are equal, each gets half of the gradient.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype. Errors: TypeError for complex
    numbers.

    >>> functx.maximum(jnp.asarray([1.0, 5.0], "float32"), jnp.asarray([3.0, 2.0], "float32"))
    Array([3., 5.], dtype=float32)
    """
    return larger(*jnp.broadcast_arrays(input, other))


@operator(accepts=Accepts.REAL)
def minimum(input: ArrayOnly, other: ArrayOnly) -> Array:
    """Smaller one of the elements of `input` and `other`; NaN if either is.

    Where they are equal, each gets half of the gradient.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype. Errors: TypeError for complex
    numbers.

    >>> functx.minimum(jnp.asarray([1.0, 5.0], "float32"), jnp.asarray([3.0, 2.0], "float32"))
    Array([1., 2.], dtype=float32)
    """
    return smaller(*jnp.broadcast_arrays(input, other))


@operator(accepts=Accepts.REAL)
def fmax(input: ArrayOnly, other: ArrayOnly) -> Array:
    """Larger one of the elements of `input` and `other`; where one is NaN, the other.

    The gradient goes to the element that is chosen; where they are equal, or both NaN, to `input`.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype. Errors: TypeError for complex
    numbers.

    >>> functx.fmax(jnp.asarray([1.0, 5.0], "float32"), jnp.asarray([3.0, jnp.nan], "float32"))
    Array([3., 5.], dtype=float32)
    """
    x, y = jnp.broadcast_arrays(input, other)
    return lax.select(at_most(y, x) | ~at_most(y, y), x, y)


@operator(accepts=Accepts.REAL)
def fmin(input: ArrayOnly, other: ArrayOnly) -> Array:
    """Smaller one of the elements of `input` and `other`; where one is NaN, the other.

    The gradient goes to the element that is chosen; where they are equal, or both NaN, to `input`.

    Shapes: `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype. Errors: TypeError for complex
    numbers.

    >>> functx.fmin(jnp.asarray([1.0, 5.0], "float32"), jnp.asarray([3.0, jnp.nan], "float32"))
    Array([1., 5.], dtype=float32)
    """
    x, y = jnp.broadcast_arrays(input, other)
    return lax.select(at_most(x, y) | ~at_most(y, y), x, y)


@operator(accepts=Accepts.REAL, requires=numbers_fit, aliases=("clip",))
def clamp(input: ArrayLike, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
    r"""Each element $x$ of `input` clamped to bounds: $\min(\max(x, \mathrm{min}), \mathrm{max})$.

    - `min`, `max`: numbers or arrays; `None` is no bound, and at least one must be given. Where
      `min > max`, `max` wins.

    NaN anywhere gives NaN. At a bound, the gradient goes to `input`.

    Shapes: `input`, `min` and `max` broadcast.
    Dtypes: `input` and the bounds promote to their common dtype.
    Errors: ValueError without bounds, TypeError for complex numbers.

    >>> functx.clamp(jnp.asarray([-2.0, 0.5, 2.0], "float32"), min=-1, max=1)
    Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    if max is None:
        if min is None:
            refuse("`min` or `max` must be given, got neither", error=ValueError)
        return _from_below(input, min)
    if min is None:
        return _from_above(input, max)
    x, low, high = jnp.broadcast_arrays(input, min, max)
    return (_clamp_between if category(x.dtype) == 2 else _kept)(x, low, high)


@operator(accepts=Accepts.REAL, requires=numbers_fit)
def clamp_max(input: ArrayOnly, max: ArrayLike) -> Array:
    r"""Each element $x$ of `input` clamped from above: $\min(x, \mathrm{max})$.

    - `max`: the upper bound, a number or an array.

    NaN anywhere gives NaN. At the bound, the gradient goes to `input`.

    Shapes: `input` and `max` broadcast.
    Dtypes: both promote to their common dtype. Errors: TypeError for complex numbers.

    >>> functx.clamp_max(jnp.asarray([-2.0, 2.0], "float32"), 1)
    Array([-2.,  1.], dtype=float32)
    """
    return _from_above(input, max)


@operator(accepts=Accepts.REAL, requires=numbers_fit)
def clamp_min(input: ArrayOnly, min: ArrayLike) -> Array:
    r"""Each element $x$ of `input` clamped from below: $\max(x, \mathrm{min})$.

    - `min`: the lower bound, a number or an array.

    NaN anywhere gives NaN. At the bound, the gradient goes to `input`.

    Shapes: `input` and `min` broadcast.
    Dtypes: both promote to their common dtype. Errors: TypeError for complex numbers.

    >>> functx.clamp_min(jnp.asarray([-2.0, 2.0], "float32"), 1)
    Array([1., 2.], dtype=float32)
    """
    return _from_below(input, min)


def _from_below(x: Array, low: Array) -> Array:
    clamp = _clamp_below if category(x.dtype) == 2 else bitwise.larger
    return clamp(*jnp.broadcast_arrays(x, low))


def _from_above(x: Array, high: Array) -> Array:
    clamp = _clamp_above if category(x.dtype) == 2 else bitwise.smaller
    return clamp(*jnp.broadcast_arrays(x, high))


def _kept(x: Array, low: Array, high: Array) -> Array:
    return bitwise.smaller(bitwise.larger(x, low), high)


def _masked(mask: Array, tangent: Array) -> Array:
    return jnp.where(mask, tangent, 0)


_clamp_below = derivative_rules(
    bitwise.larger,
    jvp=lambda p, output, t: _masked(at_most(p[1], p[0]), t[0]) + _masked(less(p[0], p[1]), t[1]),
    name="clamp",
)
_clamp_above = derivative_rules(
    bitwise.smaller,
    jvp=lambda p, output, t: _masked(at_most(p[0], p[1]), t[0]) + _masked(less(p[1], p[0]), t[1]),
    name="clamp",
)
_clamp_between = derivative_rules(
    _kept,
    jvp=lambda p, output, t: (
        _masked(at_most(p[1], p[0]) & at_most(p[0], p[2]), t[0])
        + _masked(less(p[0], p[1]) & less(p[1], p[2]), t[1])
        + _masked(less(p[2], p[0]) | less(p[2], p[1]), t[2])
    ),
    name="clamp",
)


def _choice_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Reads `where(x, condition, other)` as `where(condition, x, other)`, without a size."""
    if (args[2] if len(args) == 3 else kwargs.get("other")) is not None:
        if len(args) == 3 and _is_bool(args[1]) and not _is_condition(args[0]):
            args = (args[1], args[0], args[2])
        kwargs = {"size": 0, **kwargs}
    return args, kwargs


def _is_bool(x: Any) -> bool:
    return isinstance(x, bool) or getattr(x, "dtype", None) == "bool"


def _is_condition(x: Any) -> bool:
    return _is_bool(x) or getattr(x, "dtype", None) == "uint8"  # as in PyTorch, which deprecates it


def _choices_fit(*, input: Any, other: Any, **_: Any) -> Iterator[Requirement]:
    if input is None or other is None:
        return
    common = result_dtype([input, other])
    if accumulator(common) == common:  # PyTorch rounds what goes into halves
        yield from numbers_fit(input=input, other=other)


def _count(
    condition: Mask,
    input: ArrayLike | None = None,
    other: ArrayLike | None = None,
    **_: Any,
) -> Array:
    if other is not None:
        return jnp.zeros((), available(LONG))
    return jnp.count_nonzero(nonzero(condition))


@overload
def where(condition: Mask, input: ArrayLike, other: ArrayLike) -> Array: ...
@overload
def where(
    condition: Mask, *, size: int | None = None, fill_value: Scalar = -1
) -> tuple[Array, ...]: ...
@operator(
    promote=Promote.NO_OPMATH,
    sizes_from_values={"size": _count},
    requires=_choices_fit,
    other_signatures=_choice_form,
)
def where(
    condition: Mask,
    input: ArrayLike | None = None,
    other: ArrayLike | None = None,
    *,
    size: int | None = None,
    fill_value: Scalar = -1,
) -> Array | tuple[Array, ...]:
    """Elements of `input` where `condition` holds, and of `other` elsewhere; or positions.

    `where(condition)` alone gives the positions of the nonzero elements, one int64 array of shape
    `[k]` for each dimension. `where(x, condition, other)`, the order of PyTorch's method, is
    understood if `x` does not hold bools and `condition` does.

    - `condition`: bools; for positions, an array of any dtype.
    - `input`, `other`: arrays or numbers, both or neither.
    - `size`: the number of positions, which `jit` needs. Missing ones are filled with `fill_value`,
      and positions beyond `size` are left out.
    - `fill_value`: an integer, -1 by default.

    Shapes: `condition`, `input` and `other` broadcast.
    Dtypes: `input` and `other` promote to their common dtype.
    Errors: TypeError for a `condition` without bools, and for one of `input` and `other` alone.

    >>> functx.where(jnp.asarray([True, False]), jnp.asarray([1.0, 2.0], "float32"), 0)
    Array([1., 0.], dtype=float32)
    >>> [x.tolist() for x in functx.where(jnp.asarray([[0, 1], [2, 0]]))]
    [[0, 1], [1, 0]]
    """
    condition = jnp.asarray(condition)
    if (input is None) != (other is None):
        refuse("`input` and `other` must be given together, got one", error=TypeError)
    if input is not None and other is not None:
        if not _is_condition(condition):
            refuse(f"`condition` must be of bools, got {describe(condition)}", error=TypeError)
        return jnp.where(nonzero(condition), input, other)
    assert size is not None
    found = jnp.nonzero(jnp.atleast_1d(nonzero(condition)), size=size, fill_value=fill_value)
    return tuple(at.astype(available(LONG)) for at in found)


@operator(promote=Promote.NO_OPMATH, takes_storage_dtypes=False)
def nan_to_num(
    input: ArrayLike,
    nan: UnpromotedArray | None = 0.0,
    posinf: UnpromotedArray | None = None,
    neginf: UnpromotedArray | None = None,
) -> Array:
    """Replaces NaN and infinities in `input` by numbers, also in each part of complex numbers.

    - `nan`: replaces NaN, 0 by default and for `None`.
    - `posinf`: replaces infinity, by default the greatest finite value of the dtype.
    - `neginf`: replaces minus infinity, by default the least finite value of the dtype.

    The gradient is 0 where a value is replaced. Integers stay as they are.

    Dtypes: that of `input`. Errors: TypeError for replacements that are not real numbers or 0-d.

    >>> functx.nan_to_num(jnp.asarray([1.0, jnp.nan], "float32"), nan=2.0)
    Array([1., 2.], dtype=float32)
    """
    kind = category(input.dtype)
    for name, value in {"nan": nan, "posinf": posinf, "neginf": neginf}.items():
        if value is not None and (jnp.ndim(value) or category(jnp.asarray(value).dtype) == 3):
            refuse(f"`{name}` must be a real number, got {describe(value)}", error=TypeError)
    if kind < 2:
        return input
    if kind == 3:
        parts = (lax.real(input), lax.imag(input))
        return lax.complex(*(_replaced(part, nan, posinf, neginf) for part in parts))
    return _replaced(input, nan, posinf, neginf)


def _replaced(x: Array, nan: Array | None, posinf: Array | None, neginf: Array | None) -> Array:
    info = jnp.finfo(x.dtype)
    like = lambda value, default: jnp.asarray(default if value is None else value, x.dtype)
    out = jnp.where(x != x, like(nan, 0.0), x)
    out = jnp.where(x == jnp.inf, like(posinf, info.max), out)
    return jnp.where(x == -jnp.inf, like(neginf, info.min), out)
