"""Variances and standard deviations."""

from __future__ import annotations

from typing import Any, overload

import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    axes_of,
    compute_and_result,
    describe,
    Dims,
    operator,
    Promote,
    real_of,
    refuse,
    Scalar,
)

from .deviations import deviation, off_mean, variance


__all__ = ["std", "std_mean", "var", "var_mean"]


def _unbiased(args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """Reads `(input, unbiased)` and `(input, dim, unbiased, keepdim)` with a `correction`."""
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
@operator(promote=Promote.COMPLEX_TO_FLOAT, accepts=Accepts.INEXACT, other_signatures=_unbiased)
def var(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> Array:
    r"""Variance of `input` over `dim`: $\frac{1}{\max(0, n - c)} \sum_i |x_i - \bar{x}|^2$.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `correction`: $c$, a number, 1 by default. `unbiased=True` and `False` are corrections of 1
      and 0.
    - `keepdim`: whether reduced dimensions stay with size 1.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: floating or complex; complex gives real. Errors: TypeError for integers.

    >>> functx.var(jnp.asarray([1.0, 2.0, 6.0], "float32"))
    Array(7., dtype=float32)
    """
    axes = axes_of(dim, input.ndim)
    return variance(off_mean(input, axes)[0], axes, correction, keepdim)


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
@operator(promote=Promote.COMPLEX_TO_FLOAT, accepts=Accepts.INEXACT, other_signatures=_unbiased)
def std(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> Array:
    r"""Standard deviation of `input`: $\sqrt{\frac{1}{\max(0, n - c)} \sum_i |x_i - \bar{x}|^2}$.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `correction`: $c$, a number, 1 by default. `unbiased=True` and `False` are corrections of 1
      and 0.
    - `keepdim`: whether reduced dimensions stay with size 1.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: floating or complex; complex gives real. Errors: TypeError for integers.
    Gradients: 0 where the deviation is 0, and so is the second derivative, which is infinite: for
    the square write `functx.var(x)`.

    >>> functx.std(jnp.asarray([1.0, 3.0], "float32"), unbiased=False)
    Array(1., dtype=float32)
    """
    axes = axes_of(dim, input.ndim)
    return deviation(off_mean(input, axes)[0], axes, correction, keepdim)


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
@operator(promote=Promote.NONE, accepts=Accepts.INEXACT, other_signatures=_unbiased)
def var_mean(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> tuple[Array, Array]:
    r"""Variance and mean of `input` over `dim`: `(var, mean)`.

    The variance is $\frac{1}{\max(0, n - c)} \sum_i |x_i - \bar{x}|^2$, where $\bar{x}$ is the
    mean.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `correction`: $c$, a number, 1 by default. `unbiased=True` and `False` are corrections of 1
      and 0.
    - `keepdim`: whether reduced dimensions stay with size 1.

    Shapes: `[..., n, ...] -> [..., ...]` twice.
    Dtypes: floating or complex; of complex arrays, the variance is real and the mean complex.
    Errors: TypeError for integers.

    >>> functx.var_mean(jnp.asarray([1.0, 2.0, 6.0], "float32"))
    (Array(7., dtype=float32), Array(3., dtype=float32))
    """
    compute, dtype = compute_and_result(Promote.DEFAULT, input.dtype)
    axes = axes_of(dim, input.ndim)
    off, mean = off_mean(input.astype(compute), axes)
    out = variance(off, axes, correction, keepdim)
    mean = mean if keepdim else jnp.squeeze(mean, axes)
    return out.astype(real_of(dtype)), mean.astype(dtype)


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
@operator(promote=Promote.NONE, accepts=Accepts.INEXACT, other_signatures=_unbiased)
def std_mean(
    input: ArrayLike, dim: Dims = None, *, correction: Scalar | None = 1, keepdim: bool = False
) -> tuple[Array, Array]:
    r"""Standard deviation and mean of `input` over `dim`: `(std, mean)`.

    The deviation is $\sqrt{\frac{1}{\max(0, n - c)} \sum_i |x_i - \bar{x}|^2}$, where $\bar{x}$ is
    the mean.

    - `dim`: one dimension or several; `None` and an empty tuple stand for all.
    - `correction`: $c$, a number, 1 by default. `unbiased=True` and `False` are corrections of 1
      and 0.
    - `keepdim`: whether reduced dimensions stay with size 1.

    Shapes: `[..., n, ...] -> [..., ...]` twice.
    Dtypes: floating or complex; of complex arrays, the deviation is real and the mean complex.
    Gradients: that of the deviation is 0 where the deviation is 0, and so is its second derivative.
    Errors: TypeError for integers.

    >>> functx.std_mean(jnp.asarray([1.0, 3.0], "float32"), unbiased=False)
    (Array(1., dtype=float32), Array(2., dtype=float32))
    """
    compute, dtype = compute_and_result(Promote.DEFAULT, input.dtype)
    axes = axes_of(dim, input.ndim)
    off, mean = off_mean(input.astype(compute), axes)
    out = deviation(off, axes, correction, keepdim)
    mean = mean if keepdim else jnp.squeeze(mean, axes)
    return out.astype(real_of(dtype)), mean.astype(dtype)
