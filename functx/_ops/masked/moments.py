"""Variances and standard deviations of the elements that a mask keeps."""

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
    RealScalar,
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
    correction: RealScalar | None = None,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    r"""Variance of the $n$ elements where `mask` is True.

    $\frac{1}{\max(0, n - c)} \sum_i |x_i - \bar{x}|^2$, with $c$ the `correction`.

    - `input`: an array of any dtype but bool.
    - `dim`: the dimensions that are reduced, one or several; None is all.
    - `unbiased`: True is a correction of 1, False one of 0.
    - `correction`: a real number; None is 1, unless `unbiased` is given.
    - `keepdim`: whether the reduced dimensions stay, with size 1.
    - `dtype`: a floating or complex dtype, to which `input` is cast first. None is its own, for
      integers the default one, where PyTorch has float32.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Where no more elements are left than the correction, the result is NaN or infinite, and under a
    mask a constant.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: floating, or complex with an imaginary part of 0.
    Gradients: 0 for masked elements, whatever they hold; in PyTorch NaN if they are not finite.
    Errors: TypeError for a `dtype` that is neither floating nor complex, and if `unbiased` and
    `correction` are both given; RuntimeError if `mask` does not broadcast to `input`.

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
    correction: RealScalar | None = None,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask: Mask | None = None,
) -> Array:
    r"""Standard deviation of the $n$ elements where `mask` is True.

    $\sqrt{\frac{1}{\max(0, n - c)} \sum_i |x_i - \bar{x}|^2}$, with $c$ the `correction`.

    - `input`: an array of any dtype but bool.
    - `dim`: the dimensions that are reduced, one or several; None is all.
    - `unbiased`: True is a correction of 1, False one of 0.
    - `correction`: a real number; None is 1, unless `unbiased` is given.
    - `keepdim`: whether the reduced dimensions stay, with size 1.
    - `dtype`: a floating or complex dtype, to which `input` is cast first. None is its own, for
      integers the default one, where PyTorch has float32.
    - `mask`: an array that broadcasts to `input`; an element is kept where it is not 0. None keeps
      all.

    Where no more elements are left than the correction, the result is NaN or infinite, and under a
    mask a constant.

    Shapes: `[..., n, ...] -> [..., ...]`.
    Dtypes: floating, or complex with an imaginary part of 0.
    Gradients: 0 for masked elements, and where the deviation is 0 (in PyTorch NaN). There the
    second derivative is 0 too, though it is infinite: instead of the square of a deviation write
    `functx.masked.var`.
    Errors: TypeError for a `dtype` that is neither floating nor complex, and if `unbiased` and
    `correction` are both given; RuntimeError if `mask` does not broadcast to `input`.

    >>> mask = jnp.asarray([True, False, True])
    >>> functx.masked.std(jnp.asarray([1.0, 2.0, 3.0], "float32"), unbiased=False, mask=mask)
    Array(1., dtype=float32)
    """
    return _moment(deviation, input, dim, _less(unbiased, correction), keepdim, dtype, mask)


def _less(unbiased: bool | None, correction: Any) -> Any:
    """The correction that `unbiased` or `correction` asks for."""
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
    """The variance or the deviation of the elements that `mask` keeps."""
    if dtype is not None and category(dtype) < 2:
        refuse(f"`dtype` must be floating or complex, got {dtype.name}", error=TypeError)
    input, axes, keep = rounded_first(input, dtype), axes_of(dim, input.ndim), kept(input, mask)
    off = off_mean(filled(input, keep, 0), axes, keep)[0]
    out = moment(off, axes, correction, bool(keepdim), keep)
    if keep is not None:
        out = where_none_left(out, off, axes, correction, bool(keepdim), keep)
    return converted(out, input.dtype)
