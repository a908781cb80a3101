"""Losses that compare two arrays element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    Autocast,
    available,
    category,
    compute_and_result,
    converted,
    default_float,
    describe,
    LONG,
    operator,
    Promote,
    promoted,
    real_of,
    refuse,
    Requirement,
    result_dtype,
    Scalar,
    UnpromotedArray,
)
from functx._core.numbers.bitwise_comparison import at_least_zero, positive
from functx._ops.magnitude import magnitude
from functx._ops.quotients import quotient

from .log_sigmoids import cross_entropy
from .loss_arguments import factor_of, of_one_shape
from .reduction import reduced, reduction_of


__all__ = [
    "binary_cross_entropy_with_logits",
    "huber_loss",
    "l1_loss",
    "mse_loss",
    "smooth_l1_loss",
]


# The loss and its weight promote by different rules, hence `Promote.NONE`.
@operator(promote=Promote.NONE, zero_dim_promotes_alike=True, autocast=Autocast.FLOAT32)
def mse_loss(
    input: ArrayLike,
    target: ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: ArrayLike | None = None,
) -> Array:
    r"""Squared error: $\ell_i = (x_i - t_i)^2$, its mean, or its sum.

    Shapes: `input` ($x$) and `target` ($t$) broadcast; the loss of each element has their joint
    shape.

    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.
    - `weight`: a factor $w_i$ for each element, in the shape of `input`. The mean is then
      $\sum_i w_i \ell_i / \sum_i w_i$.

    Dtypes: the common one, which must be floating unless there is a `weight`.
    Errors: RuntimeError for shapes that do not broadcast, ValueError for another `reduction` or a
    `weight` of another shape, TypeError for dtypes.

    >>> functx.nn.functional.mse_loss(jnp.asarray([1.0, 3.0], "float32"), jnp.zeros(2, "float32"))
    Array(5., dtype=float32)
    """
    difference, dtype = _difference(input, target, bools=weight is None)
    if weight is None and category(dtype) != 2:
        refuse(f"expected a floating common dtype, got {dtype.name}", error=TypeError)
    reduction = reduction_of(size_average, reduce, reduction)
    return _weighted(difference * difference, dtype, input, weight, reduction)


@operator(promote=Promote.NONE, zero_dim_promotes_alike=True, autocast=Autocast.FLOAT32)
def l1_loss(
    input: ArrayLike,
    target: ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: ArrayLike | None = None,
) -> Array:
    r"""Absolute error: $\ell_i = |x_i - t_i|$, its mean, or its sum.

    Shapes: `input` ($x$) and `target` ($t$) broadcast; the loss of each element has their joint
    shape.

    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.
    - `weight`: a factor $w_i$ for each element, in the shape of `input`. The mean is then
      $\sum_i w_i \ell_i / \sum_i w_i$.

    Dtypes: the real dtype of the common one, or its common dtype with `weight`. Integers have a
    sum, in int64, and no mean.
    Gradients: 0 where $x_i = t_i$, and where either is NaN.
    Errors: RuntimeError for shapes that do not broadcast, ValueError for another `reduction` or a
    `weight` of another shape, TypeError for dtypes.

    >>> functx.nn.functional.l1_loss(jnp.asarray([1.0, -3.0], "float32"), jnp.zeros(2, "float32"))
    Array(2., dtype=float32)
    """
    difference, dtype = _difference(input, target)
    loss = jnp.abs(difference) if category(dtype) == 1 else magnitude(difference)
    reduction = reduction_of(size_average, reduce, reduction)
    return _weighted(loss, real_of(dtype), input, weight, reduction)


def _difference(input: Array, target: Array, *, bools: bool = False) -> tuple[Array, np.dtype]:
    """The difference in the dtype of computation, and the dtype that it has for the caller."""
    if not bools and 0 in (category(input.dtype), category(target.dtype)):
        refuse(
            f"bools have no difference, got {describe(input)} and {describe(target)}",
            hint="x.astype(y.dtype) converts",
            error=TypeError,
        )
    compute, dtype = compute_and_result(
        Promote.DEFAULT, result_dtype([input, target], zero_dim_promotes_alike=True)
    )
    return promoted(input, dtype, compute) - promoted(target, dtype, compute), dtype


def _weighted(
    loss: Array, dtype: np.dtype, input: Array, weight: Array | None, reduction: str
) -> Array:
    if weight is None:
        if reduction == "mean" and category(dtype) < 2:
            refuse(
                f"expected a floating common dtype for a mean, got {dtype.name}", error=TypeError
            )
        return _in_dtype(reduced(loss, reduction), dtype, reduction)
    of_one_shape(input, weight=weight)
    both: Any = (jax.ShapeDtypeStruct(loss.shape, dtype), weight)
    compute, dtype = compute_and_result(
        Promote.DEFAULT, result_dtype(both, zero_dim_promotes_alike=True)
    )
    loss, weight = converted(loss, compute), converted(weight, compute)
    if reduction != "mean":
        return _in_dtype(reduced(loss * weight, reduction), dtype, reduction)
    total, share = jnp.sum(loss * weight), jnp.sum(weight)
    if category(dtype) < 2:
        dtype = default_float()
        total, share = total.astype(dtype), share.astype(dtype)
    return quotient(total, share).astype(dtype)


def _in_dtype(loss: Array, dtype: np.dtype, reduction: str) -> Array:
    long = reduction == "sum" and category(dtype) == 1
    return loss.astype(available(LONG) if long else dtype)


def _beta_is_not_negative(*, beta: Any, **_: Any) -> Iterator[Requirement]:
    yield Requirement(at_least_zero(beta), "`beta` must not be negative, got {got}", beta)


@operator(
    accepts=Accepts.REAL,
    zero_dim_promotes_alike=True,
    requires=_beta_is_not_negative,
    autocast=Autocast.FLOAT32,
)
def smooth_l1_loss(
    input: ArrayLike,
    target: ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: Scalar = 1.0,
) -> Array:
    r"""Squared error below `beta`, absolute error above (Girshick, 2015).

    With $d = x - t$: $\ell = d^2 / 2\beta$ where $|d| < \beta$, else $|d| - \beta / 2$.
    Shapes: `input` ($x$) and `target` ($t$) broadcast; the loss of each element has their joint
    shape.

    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.
    - `beta`: $\beta$, the error at which both pieces meet; not negative. `beta=0` gives `l1_loss`.

    Dtypes: the common one, which must be floating.
    Errors: RuntimeError for shapes that do not broadcast and for a negative `beta`, ValueError for
    another `reduction`, TypeError for dtypes.

    >>> functx.nn.functional.smooth_l1_loss(jnp.asarray([3.0], "float32"), jnp.zeros(1, "float32"))
    Array(2.5, dtype=float32)
    """
    if category(input.dtype) != 2:
        refuse(f"expected a floating common dtype, got {input.dtype.name}", error=TypeError)
    difference = input - target
    distance = magnitude(difference)
    linear = (distance >= beta) | (beta == 0)
    near = jnp.where(linear, 0, difference)
    square = quotient(0.5 * near * near, jnp.where(beta == 0, 1, beta))
    loss = jnp.where(linear, distance - 0.5 * beta, square)
    return reduced(loss, reduction_of(size_average, reduce, reduction))


def _delta_is_positive(*, delta: Any, **_: Any) -> Iterator[Requirement]:
    yield Requirement(positive(delta), "`delta` must be positive, got {got}", delta)


@operator(accepts=Accepts.REAL, requires=_delta_is_positive, autocast=Autocast.FLOAT32)
def huber_loss(
    input: ArrayOnly,
    target: ArrayOnly,
    reduction: str = "mean",
    delta: Scalar = 1.0,
    weight: UnpromotedArray | None = None,
) -> Array:
    r"""Squared error below `delta`, absolute error above (Huber, 1964).

    With $d = x - t$: $\ell = d^2 / 2$ where $|d| < \delta$, else $\delta (|d| - \delta / 2)$.
    Shapes: `input` ($x$) and `target` ($t$) broadcast; the loss of each element has their joint
    shape.

    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.
    - `delta`: $\delta$, the error at which both pieces meet; positive.
    - `weight`: a factor for each element, in the shape of `input`. The mean is that of the
      products.

    Dtypes: the common one, which must be floating.
    Errors: RuntimeError for shapes that do not broadcast and for a `delta` that is not positive,
    ValueError for another `reduction` or a `weight` of another shape, TypeError for dtypes.

    >>> functx.nn.functional.huber_loss(jnp.asarray([3.0], "float32"), jnp.zeros(1, "float32"))
    Array(2.5, dtype=float32)
    """
    if category(input.dtype) != 2:
        refuse(f"expected a floating common dtype, got {input.dtype.name}", error=TypeError)
    difference = input - target
    distance = magnitude(difference)
    linear = (distance >= delta) | (delta != delta)
    near = jnp.where(linear, 0, difference)
    loss = jnp.where(linear, delta * (distance - 0.5 * delta), 0.5 * near * near)
    if weight is not None:
        weight = jnp.asarray(weight)
        of_one_shape(input, weight=weight)
        loss = loss * converted(weight, loss.dtype)
    return reduced(loss, reduction_of(None, None, reduction))


@operator(accepts=Accepts.FLOATING, autocast=Autocast.FLOAT32)
def binary_cross_entropy_with_logits(
    input: ArrayLike,
    target: ArrayLike,
    weight: UnpromotedArray | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: UnpromotedArray | None = None,
) -> Array:
    r"""Cross entropy of the probabilities `target` and $\sigma(x)$ of the logits `input`, without
    overflow.

    $\ell = -w\,(p\,t \log \sigma(x) + (1 - t) \log(1 - \sigma(x)))$ for each element $x$ of `input`
    and $t$ of `target`.
    Shapes: `input` and `target` have one shape.

    - `weight`: a factor $w$, which broadcasts to the input's shape.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.
    - `pos_weight`: a factor $p$ of what is positive, which broadcasts to the input's shape.

    Dtypes: the common one of `input` and `target`, which are floating; the weights may be integers.
    Errors: ValueError for a `target` of another shape and for another `reduction`, RuntimeError for
    weights that do not broadcast, TypeError for dtypes.

    >>> F = functx.nn.functional
    >>> F.binary_cross_entropy_with_logits(jnp.zeros(2, "float32"), jnp.ones(2, "float32"))
    Array(0.6931472, dtype=float32)
    """
    of_one_shape(input, target=target)
    weight, pos_weight = (
        factor_of("weight", weight, input),
        factor_of("pos_weight", pos_weight, input),
    )
    positive = target if pos_weight is None else target * pos_weight
    loss = cross_entropy(input, positive, 1 - target)
    loss = loss if weight is None else loss * weight
    return reduced(loss, reduction_of(size_average, reduce, reduction))
