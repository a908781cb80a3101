"""Losses that demand scores of the right classes that are larger than all others by a margin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    as_number,
    Autocast,
    category,
    describe,
    Index,
    operator,
    Promote,
    refuse,
    Requirement,
    Scalar,
    UnpromotedArray,
)
from functx._core.devices.manual_axes import equally_varying
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.quotients import quotient

from .reduction import reduced, reduction_of


__all__ = ["multi_margin_loss", "multilabel_margin_loss"]


def _class_exists(*, input: Any, target: Any, **_: Any) -> Iterator[Requirement]:
    if input.ndim in (1, 2) and category(target.dtype) == 1:
        classes = input.shape[-1]
        ok = (target >= 0) & (target < classes)
        message = f"`target` must lie in [0, {classes - 1}], got {{got}}"
        yield Requirement(ok, message, target, IndexError)


@operator(
    accepts=Accepts.FLOATING,
    promote=Promote.SAME,
    requires=_class_exists,
    autocast=Autocast.FLOAT32,
)
def multi_margin_loss(
    input: ArrayLike,
    target: Index,
    p: int = 1,
    margin: Scalar = 1.0,
    weight: UnpromotedArray | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""$\sum_{j \ne y} w_y \max(\mathrm{margin} - x_y + x_j, 0)^p / C$: the score of class $y$ is
    to exceed all others by the margin.

    Shapes: `input` ($x$) is `[N, C]` or `[C]`, `target` ($y$) is `[N]` or `[]`, and so is the loss
    of each element.

    - `target`: integers from `[0, C)`.
    - `p`: the power of the shortfalls, 1 or 2.
    - `margin`: by how much the right class is to lead.
    - `weight`: a factor $w$ for each class, `[C]`; None means 1.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    Under `jit` and on accelerators, the loss of a class that does not exist is NaN.
    Gradients: 0 at the margin.
    Errors: IndexError for a class that does not exist in eager calls on the CPU, RuntimeError for
    shapes that do not fit, ValueError for another `p` or `reduction`, TypeError for dtypes.

    >>> x = jnp.asarray([[0.5, 1.0]], "float32")
    >>> functx.nn.functional.multi_margin_loss(x, jnp.asarray([0]))
    Array(0.75, dtype=float32)
    """
    if p not in (1, 2):
        refuse(f"`p` must be 1 or 2, got {p}", error=ValueError)
    target = _class_numbers(target)
    x = _by_class(input)
    classes = x.shape[-1]
    if target.size != x.shape[0] or target.ndim > 1 or target.ndim >= max(input.ndim, 2):
        refuse(f"`target` must be a class for each of {describe(input)}, got {describe(target)}")
    y = target.reshape(x.shape[0], 1)
    exists = (y >= 0) & (y < classes)
    at = jnp.where(exists, y, 0)
    ahead = jnp.where(exists, jnp.take_along_axis(x, at, 1), jnp.nan)
    missing = margin - ahead + x
    others = y != jnp.arange(classes, dtype=y.dtype)
    short = jnp.where(others, _shortfall(missing), 0)
    each = short if p == 1 else short * short
    if weight is not None:
        if weight.shape != (classes,):
            refuse(f"`weight` must be [{classes}], one for each class, got {describe(weight)}")
        if category(weight.dtype) != 2:
            refuse(f"`weight` must hold real numbers, got {describe(weight)}", error=TypeError)
        each = each * weight.astype(x.dtype)[at]
    loss = quotient(jnp.sum(each, 1), as_number(classes, x.dtype))
    return reduced(loss.reshape(target.shape), reduction_of(size_average, reduce, reduction))


def _labels_exist(*, input: Any, target: Any, **_: Any) -> Iterator[Requirement]:
    if input.ndim <= 2 and category(target.dtype) == 1:
        classes = input.shape[-1] if input.ndim else 1
        ok = (target >= -1) & (target < classes)
        message = f"`target` must lie in [-1, {classes - 1}], got {{got}}"
        yield Requirement(ok, message, target)


@operator(
    accepts=Accepts.FLOATING,
    promote=Promote.SAME,
    requires=_labels_exist,
    autocast=Autocast.FLOAT32,
)
def multilabel_margin_loss(
    input: ArrayLike,
    target: Index,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""$\sum_y \sum_j \max(1 - x_y + x_j, 0) / C$ over right classes $y$ and wrong classes $j$.

    Shapes: `input` ($x$) and `target` are both `[N, C]` or both `[C]`; the loss of each element is
    `[N]` or `[]`.

    - `target`: integers; each row names the right classes, up to its first -1.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them.

    Gradients: 0 at the margin of 1.
    Errors: RuntimeError for shapes that do not fit and for classes outside of `[-1, C)` in eager
    calls on the CPU, ValueError for another `reduction`, TypeError for dtypes.

    >>> x = jnp.asarray([0.5, 1.0, 0.0], "float32")
    >>> functx.nn.functional.multilabel_margin_loss(x, jnp.asarray([0, -1, 1]))
    Array(0.6666667, dtype=float32)
    """
    target = _class_numbers(target)
    if target.shape != input.shape:
        refuse(f"`target` must have the shape of {describe(input)}, got {describe(target)}")
    x = _by_class(input)
    total = _of_labels(x, target.reshape(x.shape))
    loss = quotient(total, as_number(x.shape[-1], x.dtype))
    return reduced(loss.reshape(input.shape[:-1]), reduction_of(size_average, reduce, reduction))


def _total(x: Array, labels: Array) -> Array:
    """The shortfalls of each row, summed label by label, in as many steps as the longest row has
    labels.
    """

    def step(total: Array, label: Array, missing: Array) -> Array:
        short = jnp.sum(jnp.where(missing <= 0, 0, missing), 1)
        return total + jnp.where(label < x.shape[1], short, 0)

    return _by_label(x, labels, jnp.zeros(x.shape[0], x.dtype), step)


def _slopes(x: Array, labels: Array) -> Array:
    """For each element, the number of shortfalls that grow with it, less the number of those that
    shrink.
    """
    rows = jnp.arange(x.shape[0])

    def step(slopes: Array, label: Array, missing: Array) -> Array:
        counts = ((missing > 0) & (label < x.shape[1])[:, None]).astype(x.dtype)
        return (slopes + counts).at[rows, label].add(-jnp.sum(counts, 1), mode="drop")

    return _by_label(x, labels, jnp.zeros_like(x), step)


def _by_label(x: Array, labels: Array, start: Array, step: Callable[..., Array]) -> Array:
    """`step(so_far, label, missing)` for each label in turn; a row without further labels gets a
    class that does not exist.
    """
    classes = x.shape[1]
    rows = jnp.arange(x.shape[0])[:, None]
    named = jnp.cumprod(labels >= 0, 1, dtype=bool)
    places = jnp.where(named, labels, classes)
    wrong = jnp.ones(x.shape, bool).at[rows, places].set(False, mode="drop")

    def body(k: Array, so_far: Array) -> Array:
        here = lax.dynamic_index_in_dim(places, k, 1)
        ahead = jnp.take_along_axis(x, jnp.minimum(here, classes - 1), 1)
        missing = jnp.where(wrong, 1 - ahead + x, 0)
        return step(so_far, here[:, 0], missing)

    longest = jnp.max(jnp.sum(named, 1, dtype=jnp.int32), initial=0)
    start, *_ = equally_varying([start, x, labels])
    return lax.fori_loop(0, longest, body, start)


_of_labels = derivative_rules(
    _total,
    jvp=lambda primals, output, tangents: jnp.sum(
        _slopes(*map(lax.stop_gradient, primals)) * tangents[0], 1
    ),
    name="nn.functional.multilabel_margin_loss",
)


def _shortfall(missing: Array) -> Array:
    """The positive part and NaN; of these, only the positive part has a slope."""
    below = lax.stop_gradient(jnp.where(missing <= 0, 0, missing))
    return jnp.where(missing > 0, missing, below)


def _class_numbers(target: Any) -> Array:
    target = jnp.asarray(target)
    if category(target.dtype) != 1:
        refuse(f"`target` must hold integers, got {describe(target)}", error=TypeError)
    return target


def _by_class(input: Array) -> Array:
    """The scores as `[N, C]`."""
    if input.ndim > 2 or (input.ndim and not input.shape[-1]):
        refuse(f"`input` must be [N, C] or [C] with classes, got {describe(input)}")
    return input.reshape(-1, input.shape[-1] if input.ndim else 1)
