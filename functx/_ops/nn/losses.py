"""Losses that compare two arrays element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    describe,
    operator,
    refuse,
    Requirement,
    Scalar,
)
from functx._core.rules import derivative_rules
from functx._ops.magnitude import magnitude
from functx._ops.quotients import quotient

from .reduction import reduced, reduction_of


__all__ = ["binary_cross_entropy_with_logits", "l1_loss", "mse_loss", "smooth_l1_loss"]


@operator(accepts=Accepts.FLOATING, autocast=Autocast.FLOAT32, ranked=False)
def mse_loss(
    input: ArrayLike,
    target: ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: ArrayLike | None = None,
) -> Array:
    r"""Squared error: $\ell_i = (x_i - t_i)^2$, its mean, or its sum.

    Shapes: `input` and `target` broadcast; `weight` has the shape of `input`. The mean is then
    $\sum_i w_i \ell_i / \sum_i w_i$. `size_average` and `reduce` are PyTorch's older names.

    >>> functx.nn.functional.mse_loss(jnp.asarray([1.0, 3.0], "float32"), jnp.zeros(2, "float32"))
    Array(5., dtype=float32)
    """
    difference = input - target
    return _weighted(
        difference * difference, input, weight, reduction_of(size_average, reduce, reduction)
    )


@operator(accepts=Accepts.INEXACT, autocast=Autocast.FLOAT32, ranked=False)
def l1_loss(
    input: ArrayLike,
    target: ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: ArrayLike | None = None,
) -> Array:
    r"""Absolute error: $\ell_i = |x_i - t_i|$, its mean, or its sum.

    Shapes and `weight` are as in `mse_loss`. The derivative where $x_i = t_i$ is 0.
    Dtypes: real, unless `weight` is complex.

    >>> functx.nn.functional.l1_loss(jnp.asarray([1.0, -3.0], "float32"), jnp.zeros(2, "float32"))
    Array(2., dtype=float32)
    """
    loss = magnitude(input - target)
    return _weighted(loss, input, weight, reduction_of(size_average, reduce, reduction))


def _weighted(loss: Array, input: Array, weight: Array | None, reduction: str) -> Array:
    if weight is None:
        return reduced(loss, reduction)
    if weight.shape != input.shape:
        refuse(
            f"`weight` must have the shape of `input`, {describe(input)}, got {describe(weight)}",
            error=ValueError,
        )
    loss = loss.astype(weight.dtype) * weight
    if reduction == "mean":
        return quotient(jnp.sum(loss), jnp.sum(weight))
    return reduced(loss, reduction)


def _beta_is_not_negative(*, beta: Any, **_: Any) -> Iterator[Requirement]:
    yield Requirement(beta >= 0, "`beta` must not be negative, got {got}", beta)


@operator(
    accepts=Accepts.FLOATING,
    autocast=Autocast.FLOAT32,
    ranked=False,
    requires=_beta_is_not_negative,
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

    With $d = x - t$: $\ell = d^2 / 2\beta$ where $|d| < \beta$, else $|d| - \beta / 2$. `beta=0`
    is `l1_loss`.

    >>> functx.nn.functional.smooth_l1_loss(jnp.asarray([3.0], "float32"), jnp.zeros(1, "float32"))
    Array(2.5, dtype=float32)
    """
    difference = input - target
    distance = magnitude(difference)
    square = quotient(0.5 * difference * difference, jnp.where(beta == 0, 1, beta))
    loss = jnp.where(distance < beta, square, distance - 0.5 * beta)
    return reduced(loss, reduction_of(size_average, reduce, reduction))


# Both pieces have a kink at 0 where the whole has none, so the derivative is given.
log_sigmoid = derivative_rules(
    lambda x: jnp.minimum(x, 0) - jnp.log1p(jnp.exp(-jnp.abs(x))),
    jvp=lambda primals, output, tangents: lax.logistic(-primals[0]) * tangents[0],
    name="log_sigmoid",
)


@operator(accepts=Accepts.FLOATING, autocast=Autocast.FLOAT32)
def binary_cross_entropy_with_logits(
    input: ArrayLike,
    target: ArrayLike,
    weight: ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: ArrayLike | None = None,
) -> Array:
    r"""Cross entropy of probabilities `target` and $\sigma(x)$, without overflow.

    $\ell = -w\,(p\,t \log \sigma(x) + (1 - t) \log(1 - \sigma(x)))$, where `weight` $w$ and
    `pos_weight` $p$ broadcast against the input. `input` and `target` have one shape.

    >>> F = functx.nn.functional
    >>> F.binary_cross_entropy_with_logits(jnp.zeros(2, "float32"), jnp.ones(2, "float32"))
    Array(0.6931472, dtype=float32)
    """
    if input.shape != target.shape:
        refuse(
            f"`target` must have the shape of `input`, {describe(input)}, got {describe(target)}",
            error=ValueError,
        )
    log_weight = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    loss = (1 - target) * input - log_sigmoid(input) * log_weight
    loss = loss if weight is None else loss * weight
    return reduced(loss, reduction_of(size_average, reduce, reduction))
