"""Losses of class numbers and class probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    accumulator,
    ArrayLike,
    Autocast,
    category,
    Index,
    is_probability,
    operator,
    Promote,
    refuse,
    Requirement,
    Scalar,
    UnpromotedArray,
)

from .class_entropies import (
    check_class_number,
    class_losses,
    classes_exist,
    entropies,
    reduced_losses,
)
from .reduction import reduction_of


__all__ = ["cross_entropy", "nll_loss"]


def _targets_exist(
    *, input: Any, target: Any, ignore_index: Any, **_: Any
) -> Iterator[Requirement]:
    shape = input.shape
    if category(target.dtype) < 2 and shape:
        yield classes_exist(target, shape[0] if len(shape) == 1 else shape[1], ignore_index)


@operator(
    accepts=Accepts.FLOATING,
    promote=Promote.SAME,
    requires=_targets_exist,
    autocast=Autocast.FLOAT32,
)
def nll_loss(
    input: ArrayLike,
    target: Index,
    weight: ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: UnpromotedArray = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""Negative log likelihood: $\ell_i = -w_{t_i} x_{i, t_i}$, given log probabilities $x$ and
    class numbers $t$.

    Shapes: `input` is `[C]`, `[N, C]` or `[N, C, *d]` for `C` classes; `target` has the same shape
    without `C`, and so has the loss of each element.

    - `target`: integers from `[0, C)`, or `ignore_index`.
    - `weight`: a factor for each class, `[C]`, in the dtype of `input`; None means 1.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `ignore_index`: a target whose loss is 0 and does not count in the mean.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them. The mean is $\sum_i \ell_i / \sum_i w_{t_i}$, which is NaN if nothing counts.

    Under `jit` and on accelerators, the loss of a class that does not exist is NaN.
    Errors: IndexError for such a class in eager calls on the CPU, ValueError for a `target` of
    another shape and for another `reduction`, RuntimeError for a `weight` of another shape,
    TypeError for dtypes.

    >>> log_p = jnp.asarray([[-1.0, -2.0]], "float32")
    >>> functx.nn.functional.nll_loss(log_p, jnp.asarray([1]))
    Array(2., dtype=float32)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_class_number(ignore_index)
    losses = class_losses(
        input.astype(accumulator(input.dtype)), jnp.asarray(target), weight, ignore_index, 0.0
    )
    return reduced_losses(*losses, reduction).astype(input.dtype)


def _targets_and_options_fit(
    *, target: Any, ignore_index: Any, label_smoothing: Any, **others: Any
) -> Iterator[Requirement]:
    yield is_probability(label_smoothing, "label_smoothing")
    if category(target.dtype) == 2:
        message = "`ignore_index` goes with class numbers, got {got} and probabilities"
        yield Requirement(ignore_index < 0, message, ignore_index)
    yield from _targets_exist(target=target, ignore_index=ignore_index, **others)


@operator(
    accepts=Accepts.FLOATING,
    promote=Promote.SAME,
    requires=_targets_and_options_fit,
    autocast=Autocast.FLOAT32,
)
def cross_entropy(
    input: ArrayLike,
    target: Index,
    weight: ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: UnpromotedArray = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: Scalar = 0.0,
) -> Array:
    r"""Cross entropy of unnormalised logits and classes: $\ell_i = -w_{t_i} \log p_{i, t_i}$ with
    $p = \mathrm{softmax}(x)$, or $\ell_i = -\sum_c w_c t_{ic} \log p_{ic}$ for probabilities $t$.

    Shapes: `input` ($x$) is `[C]`, `[N, C]` or `[N, C, *d]` for `C` classes; the loss of each
    element has the same shape without `C`.

    - `target`: class numbers from `[0, C)` in the shape of `input` without `C`, or the
      probabilities of the classes in the shape of `input`.
    - `weight`: a factor for each class, `[C]`, in the dtype of `input`; None means 1.
    - `size_average`, `reduce`: PyTorch's older form of `reduction`, which they override if given:
      `reduce=False` means `"none"`, else `size_average=False` means `"sum"`, else `"mean"`.
    - `ignore_index`: a class number whose loss is 0 and does not count in the mean. Beside
      probabilities it must be negative, as the default is.
    - `reduction`: `"mean"` and `"sum"` reduce the losses of all elements to one number, `"none"`
      returns them. The mean of class numbers is $\sum_i \ell_i / \sum_i w_{t_i}$, which is NaN if
      nothing counts.
    - `label_smoothing`: $\epsilon$ from [0, 1], which replaces the probability $t_{ic}$ of a target
      by $(1 - \epsilon)\,t_{ic} + \epsilon / C$ (Szegedy et al., 2016).

    Under `jit` and on accelerators, the loss of a class that does not exist is NaN.
    Errors: IndexError for such a class in eager calls on the CPU, ValueError for class numbers of
    another shape and for another `reduction`, RuntimeError for other shapes and options, TypeError
    for dtypes.

    >>> functx.nn.functional.cross_entropy(jnp.zeros((1, 2), "float32"), jnp.asarray([1]))
    Array(0.6931472, dtype=float32)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    target = jnp.asarray(target)
    check_class_number(ignore_index)
    if input.ndim == 0:
        refuse("`input` must have at least 1 dimension, got 0", error=ValueError)
    losses = entropies(
        input.astype(accumulator(input.dtype)), target, weight, ignore_index, label_smoothing
    )
    return reduced_losses(*losses, reduction).astype(input.dtype)
