"""Losses that are negative logarithms of probabilities, element by element."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    Autocast,
    category,
    describe,
    is_probability,
    operator,
    Promote,
    refuse,
    Requirement,
    Scalar,
    UnpromotedArray,
)
from functx._core.numbers.bitwise_comparison import at_least_zero
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.quotients import quotient

from .loss_arguments import factor_of, of_one_shape
from .reduction import reduced, reduction_of


__all__ = ["binary_cross_entropy", "gaussian_nll_loss", "kl_div", "poisson_nll_loss"]


def _probabilities(*, input: Any, target: Any, **_: Any) -> Iterator[Requirement]:
    yield is_probability(input, "input")
    yield is_probability(target, "target")


@operator(
    accepts=Accepts.FLOATING,
    promote=Promote.SAME,
    requires=_probabilities,
    autocast=Autocast.BANNED,
    autocast_cpu=Autocast.FLOAT32,
)
def binary_cross_entropy(
    input: ArrayOnly,
    target: ArrayOnly,
    weight: UnpromotedArray | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""Cross entropy of probabilities: $\ell = -w\,(t \log x + (1 - t) \log(1 - x))$ for each
    element $x$ of `input` and $t$ of `target`.

    Logarithms below -100 count as -100.
    Shapes: `target` has the shape of `input`.

    - `weight`: a factor $w$, which broadcasts to the input's shape; None means 1.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    Gradients: the gradient in `input` is divided by $x (1 - x)$, which counts as 1e-12 at least: at
    0 and 1 the gradient is large, but finite. So is the gradient in `target`, where PyTorch's is
    infinite.
    Errors: RuntimeError where `input` or `target` lies outside of [0, 1], in eager calls on the
    CPU, and for a `weight` that does not broadcast; ValueError for a `target` of another shape and
    for another `reduction`; TypeError for dtypes.

    >>> F = functx.nn.functional
    >>> F.binary_cross_entropy(jnp.asarray([0.5, 0.5], "float32"), jnp.ones(2, "float32"))
    Array(0.6931472, dtype=float32)
    """
    of_one_shape(input, target=target)
    loss = _cross_entropy(input, target)
    factor = factor_of("weight", weight, input)
    loss = loss if factor is None else loss * factor
    return reduced(loss, reduction_of(size_average, reduce, reduction))


def _logarithms(x: Array) -> tuple[Array, Array]:
    return jnp.maximum(jnp.log(x), -100), jnp.maximum(jnp.log1p(-x), -100)


def _entropy(x: Array, t: Array) -> Array:
    one, other = _logarithms(x)
    return -(t * one + (1 - t) * other)


def _entropy_jvp(primals: Any, output: Array, tangents: Any) -> Array:
    x, t = primals
    one, other = _logarithms(x)
    slope = quotient(x - t, jnp.maximum(x * (1 - x), 1e-12))
    return tangents[0] * slope + tangents[1] * (other - one)


_cross_entropy = derivative_rules(_entropy, jvp=_entropy_jvp, name="binary_cross_entropy")


@operator(accepts=Accepts.REAL, autocast=Autocast.FLOAT32)
def kl_div(
    input: ArrayOnly,
    target: ArrayOnly,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Array:
    r"""Kullback and Leibler's divergence: $\ell = t\,(\log t - x)$ for each logarithm $x$ of
    `input` and each probability $t$ of `target`.

    Where $t = 0$ and $x = -\infty$ the loss is 0 (PyTorch: NaN).
    Shapes: `input` and `target` broadcast; the loss of each element has their joint shape.

    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them. `"batchmean"` divides the sum by the size of dimension 0, which is the
      divergence of mathematics.
    - `log_target`: whether `target` holds logarithms too; then $\ell = e^t (t - x)$.

    Dtypes: the common one, which must be floating.
    Errors: RuntimeError for shapes that do not broadcast, ValueError for another `reduction`,
    TypeError for dtypes.

    >>> F, x = functx.nn.functional, jnp.asarray([-1.0, -2.0], "float32")
    >>> F.kl_div(x, jnp.asarray([1.0, 0.0], "float32"))
    Array(0.5, dtype=float32)
    """
    if category(input.dtype) != 2:
        refuse(f"expected a floating common dtype, got {input.dtype.name}", error=TypeError)
    if log_target:
        loss = jnp.exp(target) * (target - input)
    else:
        nothing = (target == 0) & (input == -jnp.inf)
        loss = _x_log_x(target) - target * jnp.where(nothing, 0, input)
    if size_average is None and reduce is None and reduction == "batchmean":
        total = jnp.sum(loss)
        return quotient(total, jnp.asarray(input.shape[0], total.dtype)) if input.ndim else total
    return reduced(loss, reduction_of(size_average, reduce, reduction))


_x_log_x = derivative_rules(
    lambda x: jnp.where(x == 0, 0, x * lax.log(jnp.where(x == 0, 1, x))),
    jvp=lambda primals, output, tangents: (
        # An argument that is not differentiated has a tangent of 0, even at an infinite slope.
        jnp.where(tangents[0] == 0, 0, tangents[0] * (lax.log(primals[0]) + 1))
    ),
    vjp=lambda primals, output, cotangent: (cotangent * (lax.log(primals[0]) + 1),),
    name="x_log_x",
)


@operator(accepts=Accepts.REAL, promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32)
def poisson_nll_loss(
    input: ArrayOnly,
    target: ArrayOnly,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: Scalar = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""Negative log likelihood of counts $t$ with Poisson's distribution: $\ell = e^x - t x$, where
    $e^x$ is the expected count.

    Shapes: `input` ($x$) and `target` ($t$) broadcast; the loss of each element has their joint
    shape.

    - `log_input`: whether `input` holds logarithms. If not, $\ell = x - t \log(x + \epsilon)$.
    - `full`: whether to add Stirling's approximation of $\log t!$, which is
      $t \log t - t + \tfrac12 \log 2 \pi t$, where $t > 1$.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `eps`: $\epsilon$, which keeps the logarithm of 0 finite.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    Dtypes: the common one; integers become floating.
    Errors: RuntimeError for shapes that do not broadcast, ValueError for another `reduction`,
    TypeError for dtypes.

    >>> F = functx.nn.functional
    >>> F.poisson_nll_loss(jnp.zeros(2, "float32"), jnp.ones(2, "float32"))
    Array(1., dtype=float32)
    """
    if log_input:
        loss = jnp.exp(input) - target * input
    else:
        loss = input - target * jnp.log(input + eps)
    if full:
        many = target > 1
        count = jnp.where(many, target, 2)
        factorial = count * jnp.log(count) - count + 0.5 * jnp.log(2 * math.pi * count)
        loss = loss + jnp.where(many, factorial, 0)
    return reduced(loss, reduction_of(size_average, reduce, reduction))


def _variances(*, var: Any, **_: Any) -> Iterator[Requirement]:
    ok = at_least_zero(var) | (var != var)
    yield Requirement(ok, "`var` must not be negative, got {got}", var, error=ValueError)


@operator(
    accepts=Accepts.REAL,
    promote=Promote.INT_TO_FLOAT,
    requires=_variances,
    autocast=Autocast.FLOAT32,
    autocast_cpu=Autocast.KEEP,
)
def gaussian_nll_loss(
    input: ArrayOnly,
    target: ArrayLike,
    var: ArrayLike,
    full: bool = False,
    eps: Scalar = 1e-6,
    reduction: str = "mean",
) -> Array:
    r"""Negative log likelihood of samples of normal distributions:
    $\ell = \tfrac12 (\log v + (x - t)^2 / v)$.

    Shapes: `input` ($x$) and `target` ($t$) broadcast.

    - `var`: the variances: a number, or an array in the shape of `input`, in that shape without its
      last dimension, or with a 1 in place of one dimension.
    - `full`: whether to add $\tfrac12 \log 2 \pi$.
    - `eps`: the least variance: $v$ is `var`, or `eps` where that is greater.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    Dtypes: the common one; integers become floating.
    Gradients: the gradient in `var` is the gradient in $v$, also where $v$ is `eps`.
    Errors: ValueError where `var` is negative, in eager calls on the CPU, for a `var` of another
    shape and for another `reduction`; RuntimeError for shapes that do not broadcast; TypeError for
    dtypes.

    >>> one = jnp.ones(2, "float32")
    >>> functx.nn.functional.gaussian_nll_loss(one, 3 * one, one)
    Array(2., dtype=float32)
    """
    others = [m for n, m in zip(input.shape, var.shape, strict=False) if m != n]
    if var.ndim and var.shape == input.shape[:-1]:
        var = var[..., None]
    elif var.ndim and (var.ndim != input.ndim or others not in ([], [1])):
        refuse(
            f"`var` must be a number or fit the shape of `input`, {describe(input)}, "
            f"got {describe(var)}",
            error=ValueError,
        )
    least = jnp.asarray(eps, var.dtype)
    held = least + (var - lax.stop_gradient(var))
    variance = jnp.where(var >= least, var, held)  # a NaN stays
    difference = input - target
    loss = 0.5 * (jnp.log(variance) + quotient(difference * difference, variance))
    loss = loss + 0.5 * math.log(2 * math.pi) if full else loss
    return reduced(loss, reduction_of(None, None, reduction))
