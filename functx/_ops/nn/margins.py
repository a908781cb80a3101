"""Losses that demand a margin between pairs that belong together and pairs that do not."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    ArrayOnly,
    Autocast,
    category,
    converted,
    describe,
    operator,
    Promote,
    refuse,
    Scalar,
    UnpromotedArray,
)
from functx._ops.quotients import quotient
from functx._ops.reductions.power_norms import vector_norm

from .hinges import not_below_0, same_rank
from .log_sigmoids import cross_entropy, log_sigmoid
from .reduction import reduced, reduction_of


__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
]


@operator(accepts=Accepts.FLOATING, autocast=Autocast.FLOAT32)
def hinge_embedding_loss(
    input: ArrayOnly,
    target: UnpromotedArray,
    margin: Scalar = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""$x$ where the target is 1, $\max(\mathrm{margin} - x, 0)$ where the target is -1, and the
    sum of both for any other target.

    Shapes: `input` ($x$) and `target` broadcast; the loss of each element has their joint shape.

    - `target`: 1 or -1 for each element, in any dtype.
    - `margin`: the distance from which the loss of a target of -1 is 0.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    Gradients: -1 where the target is -1 and $x$ is the margin.
    Errors: RuntimeError for shapes that do not broadcast, ValueError for another `reduction`,
    TypeError for dtypes.

    >>> x = jnp.asarray([0.5, 0.5], "float32")
    >>> functx.nn.functional.hinge_embedding_loss(x, jnp.asarray([1, -1], "int32"))
    Array(0.5, dtype=float32)
    """
    target = _fitting(input, target)
    apart = jnp.where(_is(target, 1), 0, not_below_0(margin - input))
    loss = apart + jnp.where(_is(target, -1), 0, input)
    return reduced(loss, reduction_of(size_average, reduce, reduction))


@operator(accepts=Accepts.REAL_NUMBER, promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32)
def margin_ranking_loss(
    input1: ArrayOnly,
    input2: ArrayOnly,
    target: ArrayOnly,
    margin: Scalar = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""$\max(-t (x_1 - x_2) + \mathrm{margin}, 0)$: a target $t = 1$ ranks $x_1$ above $x_2$, and
    $t = -1$ below.

    Shapes: `input1` ($x_1$), `input2` ($x_2$) and `target` ($t$) have the same number of
    dimensions, and broadcast; the loss of each element has their joint shape.

    - `margin`: by how much the inputs are to differ.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    Dtypes: the common one; integers become floating.
    Gradients: where the loss begins to be 0, the gradient is that of the side where it is positive.
    Errors: RuntimeError for shapes that do not fit, ValueError for another `reduction`, TypeError
    for dtypes.

    >>> F, x = functx.nn.functional, jnp.asarray([0.5, 2.0], "float32")
    >>> F.margin_ranking_loss(x, x - 1, jnp.ones(2, "float32"), margin=3)
    Array(2., dtype=float32)
    """
    same_rank(input1=input1, input2=input2, target=target)
    loss = not_below_0(margin - target * (input1 - input2))
    return reduced(loss, reduction_of(size_average, reduce, reduction))


@operator(accepts=Accepts.FLOATING, autocast=Autocast.FLOAT32)
def soft_margin_loss(
    input: ArrayOnly,
    target: UnpromotedArray,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""$\log(1 + e^{-t x})$ of targets $t$ that are 1 or -1, without overflow.

    Shapes: `input` ($x$) and `target` ($t$) broadcast; the loss of each element has their joint
    shape.

    - `target`: 1 or -1 for each element, in any real dtype.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    Dtypes: that of `input`.
    Errors: RuntimeError for shapes that do not broadcast, ValueError for another `reduction`,
    TypeError for dtypes.

    >>> x = jnp.asarray([0.0, -1000.0], "float32")
    >>> functx.nn.functional.soft_margin_loss(x, jnp.ones(2, "float32"), reduction="none")
    Array([6.931472e-01, 1.000000e+03], dtype=float32)
    """
    target = _fitting(input, target)
    if category(target.dtype) == 3:
        refuse(f"`target` must hold real numbers, got {describe(target)}", error=TypeError)
    loss = -log_sigmoid(converted(target, input.dtype) * input)
    return reduced(loss, reduction_of(size_average, reduce, reduction))


@operator(accepts=Accepts.REAL, autocast=Autocast.FLOAT32, autocast_cpu=Autocast.KEEP)
def multilabel_soft_margin_loss(
    input: ArrayOnly,
    target: ArrayLike,
    weight: ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""Cross entropy of each class on its own, $-t \log \sigma(x) - (1 - t) \log(1 - \sigma(x))$,
    and its mean over the classes.

    Shapes: `[..., C]`: the last dimension is that of the classes. `input` ($x$), `target` ($t$) and
    `weight` broadcast; the loss of each element has their joint shape without `C`.

    - `target`: 1 for the classes that apply, else 0, or the probabilities of the classes.
    - `weight`: a factor for each class; None means 1.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    Dtypes: the common one, which must be floating.
    Errors: RuntimeError for shapes that do not fit, ValueError for another `reduction`, TypeError
    for dtypes.

    >>> F, one = functx.nn.functional, jnp.ones((1, 2), "float32")
    >>> F.multilabel_soft_margin_loss(0 * one, one)
    Array(0.6931472, dtype=float32)
    """
    if category(input.dtype) != 2:
        refuse(f"expected a floating common dtype, got {input.dtype.name}", error=TypeError)
    if not input.ndim:
        refuse(f"`input` must have a dimension of classes, got {describe(input)}")
    loss = cross_entropy(input, target, 1 - target)
    loss = loss if weight is None else loss * weight
    total = jnp.sum(loss, axis=-1)
    classes = jnp.asarray(input.shape[-1], total.dtype)
    return reduced(quotient(total, classes), reduction_of(size_average, reduce, reduction))


@operator(accepts=Accepts.REAL_NUMBER, promote=Promote.INT_TO_FLOAT, autocast=Autocast.FLOAT32)
def cosine_embedding_loss(
    input1: ArrayOnly,
    input2: ArrayOnly,
    target: UnpromotedArray,
    margin: Scalar = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""Loss of the cosine of two vectors: $1 - \cos$ where the target is 1,
    $\max(\cos - \mathrm{margin}, 0)$ where the target is -1, and 0 for any other target.

    Shapes: `input1` and `input2` are `[n, k]`, `target` and the loss of each element `[n]`; or all
    without `n`.

    - `target`: 1 or -1 for each pair of vectors, in any dtype.
    - `margin`: the cosine up to which the loss of a target of -1 is 0.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    The square of each norm counts 1e-12 more than it is.
    Dtypes: the common one of the vectors; integers become floating.
    Errors: RuntimeError for shapes that do not fit, ValueError for another `reduction`, TypeError
    for dtypes.

    >>> F, one = functx.nn.functional, jnp.ones((2, 3), "float32")
    >>> F.cosine_embedding_loss(one, -one, jnp.asarray([1, -1], "int32"), reduction="none")
    Array([2., 0.], dtype=float32)
    """
    target = jnp.asarray(target)
    if target.ndim > 1 or {input1.ndim, input2.ndim} != {target.ndim + 1}:
        refuse(
            "vectors and targets must be [n, k] and [n], or [k] and [], "
            f"got {describe(input1)}, {describe(input2)} and {describe(target)}"
        )
    units = [quotient(x, _length(x)) for x in (input1, input2)]
    cosine = jnp.sum(units[0] * units[1], axis=-1)
    loss = jnp.where(_is(target, 1), 1 - cosine, 0)
    loss = loss + jnp.where(_is(target, -1), not_below_0(cosine - margin), 0)
    return reduced(loss, reduction_of(size_average, reduce, reduction))


def _length(x: Array) -> Array:
    """The norm along the last dimension, whose square counts 1e-12 more than it is."""
    least = jnp.full((*x.shape[:-1], 1), 1e-6, x.dtype)
    norm = vector_norm(jnp.concatenate([x, least], axis=-1), 2, (x.ndim - 1,))
    return jnp.expand_dims(norm, -1)


def _is(target: Any, number: int) -> Array:
    target = jnp.asarray(target)
    return target == jnp.asarray(number).astype(target.dtype)


def _fitting(input: Array, target: Any) -> Array:
    target = jnp.asarray(target)
    try:
        jnp.broadcast_shapes(input.shape, target.shape)
    except ValueError:
        refuse(f"shapes do not fit: {describe(input)}, {describe(target)}")
    return target
