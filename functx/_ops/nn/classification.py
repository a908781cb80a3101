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
    Other,
    Promote,
    refuse,
    Requirement,
    Scalar,
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
    autocast=Autocast.FLOAT32,
    promote=Promote.SAME,
    requires=_targets_exist,
)
def nll_loss(
    input: ArrayLike,
    target: Index,
    weight: ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: Other = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Array:
    r"""Negative log likelihood: $\ell_i = -w_{t_i} x_{i, t_i}$, given log probabilities.

    Shapes: `input` is `[C]`, `[N, C]` or `[N, C, *d]`; `target` the same without `C`; `weight`
    is `[C]`. Where the target is `ignore_index`, the loss is 0 and does not count. The mean is
    $\sum_i \ell_i / \sum_i w_{t_i}$: NaN if nothing counts. Under `jit` and on accelerators, the
    loss of a class that does not exist is NaN.

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
    autocast=Autocast.FLOAT32,
    promote=Promote.SAME,
    requires=_targets_and_options_fit,
)
def cross_entropy(
    input: ArrayLike,
    target: Index,
    weight: ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: Other = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: Scalar = 0.0,
) -> Array:
    r"""Cross entropy of unnormalised logits: `nll_loss` of their log softmax.

    Shapes are those of `nll_loss`, or `target` has the shape of `input` and holds the
    probabilities of the classes: $\ell_i = -\sum_c w_c t_{ic} \log p_{ic}$. `label_smoothing`
    mixes the target with the uniform distribution.

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
