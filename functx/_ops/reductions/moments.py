"""Variances and standard deviations."""

from __future__ import annotations

import functools as ft
import math
from typing import Any, overload

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    axes_of,
    category,
    compute_and_result,
    describe,
    Dims,
    operator,
    Promote,
    real_of,
    refuse,
    Scalar,
)
from functx._ops.quotients import mean as mean_of, quotient


__all__ = ["std", "std_mean", "var", "var_mean"]


def _unbiased(args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """`(input, unbiased)` and `(input, dim, unbiased, keepdim)` beside `correction=`."""
    if len(args) == 2 and isinstance(args[1], bool):
        args, named = args[:1], {"unbiased": args[1]}
    elif 2 < len(args) < 5:
        args, named = args[:2], dict(zip(("unbiased", "keepdim"), args[2:], strict=False))
    else:
        named = {}
    for name in named.keys() & kwargs.keys():
        refuse(f"`{name}` is given twice", error=TypeError)
    kwargs = kwargs | named
    if "unbiased" in kwargs:
        if "correction" in kwargs:
            refuse("`unbiased` and `correction` exclude each other", error=TypeError)
        unbiased = kwargs.pop("unbiased")
        if not isinstance(unbiased, bool):
            refuse(f"`unbiased` must be a bool, got {describe(unbiased)}", error=TypeError)
        kwargs["correction"] = int(unbiased)
    elif np.iscomplexobj(kwargs.get("correction", 1)):
        got = describe(kwargs["correction"])
        refuse(f"`correction` must not be complex, got {got}", error=TypeError)
    return args, kwargs


@overload
def var(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> Array: ...
@overload
def var(input: ArrayLike, unbiased: bool) -> Array: ...
@overload
def var(
    input: ArrayLike, dim: Dims = None, unbiased: bool = True, keepdim: bool = False
) -> Array: ...
@operator(promote=Promote.COMPLEX_TO_FLOAT, accepts=Accepts.INEXACT, form=_unbiased)
def var(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> Array:
    r"""Variance: $\frac{1}{\max(0, n - c)} \sum_i |x_i - \bar{x}|^2$, $c$ the `correction`.

    Over `dim`, or over every dimension if it is `None` or empty. `unbiased=True` and `False`
    are corrections of 1 and 0.

    Shapes: `[..., n, ...] -> [..., ...]`; with `keepdim`, `n` becomes 1.
    Dtypes: real for complex.

    >>> functx.var(jnp.asarray([1.0, 2.0, 6.0], "float32"))
    Array(7., dtype=float32)
    """
    axes = axes_of(dim, input.ndim)
    return _variance(_off(input, axes)[0], axes, correction, keepdim)


@overload
def std(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> Array: ...
@overload
def std(input: ArrayLike, unbiased: bool) -> Array: ...
@overload
def std(
    input: ArrayLike, dim: Dims = None, unbiased: bool = True, keepdim: bool = False
) -> Array: ...
@operator(promote=Promote.COMPLEX_TO_FLOAT, accepts=Accepts.INEXACT, form=_unbiased)
def std(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> Array:
    r"""Standard deviation: the root of `functx.var`, with its arguments.

    Where it is 0, so is its gradient.

    >>> functx.std(jnp.asarray([1.0, 3.0], "float32"), unbiased=False)
    Array(1., dtype=float32)
    """
    axes = axes_of(dim, input.ndim)
    return _deviation(_off(input, axes)[0], axes, correction, keepdim)


@overload
def var_mean(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> tuple[Array, Array]: ...
@overload
def var_mean(input: ArrayLike, unbiased: bool) -> tuple[Array, Array]: ...
@overload
def var_mean(
    input: ArrayLike, dim: Dims = None, unbiased: bool = True, keepdim: bool = False
) -> tuple[Array, Array]: ...
@operator(promote=Promote.NONE, accepts=Accepts.INEXACT, form=_unbiased)
def var_mean(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> tuple[Array, Array]:
    """`(functx.var(...), functx.mean(...))`, with the arguments of `functx.var`.

    Dtypes: of complex arrays, the variance is real and the mean complex.

    >>> functx.var_mean(jnp.asarray([1.0, 2.0, 6.0], "float32"))
    (Array(7., dtype=float32), Array(3., dtype=float32))
    """
    compute, dtype = compute_and_result(Promote.DEFAULT, input.dtype)
    axes = axes_of(dim, input.ndim)
    off, mean = _off(input.astype(compute), axes)
    variance = _variance(off, axes, correction, keepdim)
    mean = mean if keepdim else jnp.squeeze(mean, axes)
    return variance.astype(real_of(dtype)), mean.astype(dtype)


@overload
def std_mean(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> tuple[Array, Array]: ...
@overload
def std_mean(input: ArrayLike, unbiased: bool) -> tuple[Array, Array]: ...
@overload
def std_mean(
    input: ArrayLike, dim: Dims = None, unbiased: bool = True, keepdim: bool = False
) -> tuple[Array, Array]: ...
@operator(promote=Promote.NONE, accepts=Accepts.INEXACT, form=_unbiased)
def std_mean(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> tuple[Array, Array]:
    """`(functx.std(...), functx.mean(...))`, with the arguments of `functx.var`.

    Dtypes: of complex arrays, the deviation is real and the mean complex.

    >>> functx.std_mean(jnp.asarray([1.0, 3.0], "float32"), unbiased=False)
    (Array(1., dtype=float32), Array(2., dtype=float32))
    """
    compute, dtype = compute_and_result(Promote.DEFAULT, input.dtype)
    axes = axes_of(dim, input.ndim)
    off, mean = _off(input.astype(compute), axes)
    deviation = _deviation(off, axes, correction, keepdim)
    mean = mean if keepdim else jnp.squeeze(mean, axes)
    return deviation.astype(real_of(dtype)), mean.astype(dtype)


def _off(input: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """How far each element is off the mean, and the mean."""
    mean = mean_of(input, axes, keepdims=True)
    return input - mean, mean


def _variance(off: Array, axes: tuple[int, ...], correction: Any, keepdim: bool) -> Array:
    count = math.prod(off.shape[axis] for axis in axes)
    if category(off.dtype) == 3:
        squares = lax.real(off) ** 2 + lax.imag(off) ** 2
    else:
        squares = lax.square(off)
    left = count - (1 if correction is None else correction)
    divisor = jnp.where(left > 0, left, 0) if isinstance(left, Array) else max(left, 0)
    divisor = divisor if count else 0
    return quotient(jnp.sum(squares, axis=axes, keepdims=keepdim), divisor)


def _deviation(off: Array, axes: tuple[int, ...], correction: Any, keepdim: bool) -> Array:
    """The root of the variance, also where the variance leaves the range of the dtype."""
    plain = _root(_variance(off, axes, correction, keepdim))
    if off.size == 0:
        return plain
    third = int(jnp.finfo(off.dtype).maxexp) // 3
    low, high = 2.0**-third, 2.0**third

    def scaled() -> Array:
        parts = (off,) if category(off.dtype) == 2 else (lax.real(off), lax.imag(off))
        sizes = ft.reduce(jnp.maximum, map(jnp.abs, map(lax.stop_gradient, parts)))
        size = jnp.max(sizes, axis=axes, keepdims=True)
        down = jnp.where(size > high, low**2, jnp.where(size < low, high**2, 1))
        up = jnp.where(size > high, high**2, jnp.where(size < low, low**2, 1))
        out = _root(_variance(off * down.astype(off.dtype), axes, correction, keepdim))
        return out * (up if keepdim else jnp.squeeze(up, axes)).astype(out.dtype)

    ordinary = (plain > low) & (plain < high)
    return lax.cond(jnp.all(ordinary), lambda: plain, scaled)


def _root(variance: Array) -> Array:
    """The square root, with all derivatives 0 at 0."""
    constant = variance == 0
    return jnp.where(constant, 0, lax.sqrt(jnp.where(constant, 1, variance)))
