"""Variances and standard deviations of what a mask keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    axes_of,
    category,
    converted,
    Dims,
    DType,
    Mask,
    operator,
    Promote,
    Real,
    refuse,
    rounded_first,
)
from functx._ops.reductions.deviations import deviation, off_mean, variance, where_none_left

from .masks import filled, kept


__all__ = ["std", "var"]


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.NUMBER)
def var(
    input: ArrayOnly,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: Real | None = None,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    r"""Variance over `dim`, or over every dimension, of the $n$ elements where `mask` is True.

    That is $\frac{1}{\max(0, n - c)} \sum_i |x_i - \bar{x}|^2$, $c$ the `correction`: 1, if none
    is given. `unbiased=True` and `False` are corrections of 1 and 0.

    Where no more elements are left than the correction, it is NaN, or infinite, and under a mask
    a constant. What is masked out has gradient 0, whatever it holds (in PyTorch NaN, if it holds
    what is not finite).

    Shapes: as `functx.var`'s; `mask` broadcasts to the input. Dtypes: floating or complex (with an
    imaginary part of 0), the default one for integers (in PyTorch float32, whatever the default
    is); `dtype`, if given, wins: the input is cast first. `mask` is True where it is not 0.
    Errors: TypeError if `dtype` is neither floating nor complex; RuntimeError if `mask` does not
    broadcast to the input.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.var(jnp.asarray([1.0, 2.0, 5.0], "float32"), mask=mask)
    Array(8., dtype=float32)
    """
    return _moment(variance, input, dim, _less(unbiased, correction), keepdim, dtype, mask)


@operator(promote=Promote.INT_TO_FLOAT, accepts=Accepts.NUMBER)
def std(
    input: ArrayOnly,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: Real | None = None,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    r"""Standard deviation: the root of `functx.masked.var`, with its arguments.

    Where it is 0, so is its gradient (in PyTorch NaN), and so is the second derivative, which is
    infinite: of its square write `functx.masked.var`.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.std(jnp.asarray([1.0, 2.0, 3.0], "float32"), unbiased=False, mask=mask)
    Array(1., dtype=float32)
    """
    return _moment(deviation, input, dim, _less(unbiased, correction), keepdim, dtype, mask)


def _less(unbiased: bool | None, correction: Any) -> Any:
    if unbiased is None:
        return correction
    if correction is not None:
        refuse("`unbiased` and `correction` exclude each other", error=TypeError)
    return int(unbiased)


def _moment(
    moment: Callable[..., Array],
    input: Array,
    dim: Dims,
    correction: Any,
    keepdim: bool | None,
    dtype: Any,
    mask: Any,
) -> Array:
    if dtype is not None and category(dtype) < 2:
        refuse(f"`dtype` must be floating or complex, got {dtype.name}", error=TypeError)
    input, axes, keep = rounded_first(input, dtype), axes_of(dim, input.ndim), kept(input, mask)
    off = off_mean(filled(input, keep, 0), axes, keep)[0]
    out = moment(off, axes, correction, bool(keepdim), keep)
    if keep is not None:
        out = where_none_left(out, off, axes, correction, bool(keepdim), keep)
    return converted(out, input.dtype)
