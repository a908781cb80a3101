"""Losses of class numbers and class probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import (
    Accepts,
    ArrayLike,
    Autocast,
    available,
    category,
    describe,
    Index,
    is_probability,
    LONG,
    operator,
    Other,
    Promote,
    refuse,
    Requirement,
    Scalar,
)
from functx._ops.quotients import quotient

from .normalized_exponentials import log_probabilities
from .reduction import reduction_of


__all__ = ["cross_entropy", "nll_loss"]


def _targets_exist(
    *, input: Any, target: Any, ignore_index: Any, **_: Any
) -> Iterator[Requirement]:
    shape = input.shape
    if category(target.dtype) < 2 and shape:
        yield classes_exist(target, shape[0] if len(shape) == 1 else shape[1], ignore_index)


def classes_exist(target: Any, classes: int, ignore_index: Any) -> Requirement:
    """Class numbers must be such, or the one that is ignored."""
    return Requirement(
        (_wide(target) == _wide(ignore_index)) | ((target >= 0) & (target < classes)),
        f"`target` must lie in [0, {classes - 1}] or be `ignore_index`, got {{got}}",
        target,
        IndexError,
    )


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
    losses = class_losses(input, jnp.asarray(target), weight, ignore_index, 0.0)
    return reduced_losses(*losses, reduction)


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
    losses = entropies(input, target, weight, ignore_index, label_smoothing)
    return reduced_losses(*losses, reduction)


def entropies(
    logits: Array, target: Array, weight: Array | None, ignore_index: Any, smoothing: Any
) -> tuple[Array, Array]:
    """The loss of each row of logits, and its share in the mean."""
    log_p = log_probabilities(logits, 0 if logits.ndim == 1 else 1) if logits.size else logits
    if category(target.dtype) < 2:
        return class_losses(log_p, target, weight, ignore_index, smoothing)
    if category(target.dtype) == 3:
        refuse(f"`target` must hold real probabilities, got {describe(target)}", error=TypeError)
    return _losses_of_probabilities(log_p, target, weight, smoothing)


def reduced_losses(loss: Array, share: Array, reduction: str) -> Array:
    """Losses, their sum, or that by the sum of their shares."""
    if reduction == "none":
        return loss
    return quotient(jnp.sum(loss), jnp.sum(share)) if reduction == "mean" else jnp.sum(loss)


def class_losses(
    log_p: Array, target: Array, weight: Array | None, ignore_index: Any, smoothing: Any
) -> tuple[Array, Array]:
    """`entropies` of class numbers, of log probabilities."""
    log_p, target, unbatched = _batched(log_p, target)
    classes = log_p.shape[1]
    _check_weight(weight, classes)
    counted = _wide(target) != _wide(ignore_index)
    exists = (target >= 0) & (target < classes)
    at = jnp.where(counted & exists, target, 0)[:, None]
    if classes == 0:
        picked = jnp.zeros(target.shape, log_p.dtype)
    else:
        picked = jnp.take_along_axis(log_p, at, axis=1, mode="promise_in_bounds")[:, 0]
    picked = jnp.where(exists, picked, jnp.nan)
    share = jnp.ones(target.shape, log_p.dtype) if weight is None else weight[at[:, 0]]
    loss = jnp.where(counted, -picked * share, 0)
    share = jnp.where(counted, share, 0)
    if _may_smooth(smoothing):
        smooth = jnp.where(counted, -jnp.sum(_weighted(log_p, weight), axis=1), 0)
        loss = _unless_zero(smoothing, loss, (1 - smoothing) * loss + smoothing / classes * smooth)
    return (loss[0], share[0]) if unbatched else (loss, share)


def check_class_number(ignored: Any) -> None:
    number = jnp.asarray(ignored)
    if number.ndim or category(number.dtype) != 1:
        refuse(f"`ignore_index` must be an integer, got {describe(number)}", error=TypeError)


def _wide(x: Any) -> Array:
    """Positions as wide as can be: narrow ones cannot hold every `ignore_index`."""
    return lax.convert_element_type(x, available(LONG))


def _losses_of_probabilities(
    log_p: Array, target: Array, weight: Array | None, smoothing: Any
) -> tuple[Array, Array]:
    if log_p.shape != target.shape:
        refuse(
            f"`target` must hold class numbers, or have the shape of `input`, {describe(log_p)}, "
            f"got {describe(target)}"
        )
    unbatched = log_p.ndim == 1
    if unbatched:
        log_p, target = log_p[None], target[None]
    classes = log_p.shape[1]
    _check_weight(weight, classes)
    target = target.astype(log_p.dtype)
    if _may_smooth(smoothing):
        smooth = target * (1 - smoothing) + smoothing / classes
        target = _unless_zero(smoothing, target, smooth)
    loss = -jnp.sum(_weighted(log_p * target, weight), axis=1)
    share = jnp.ones_like(loss)
    return (loss[0], share[0]) if unbatched else (loss, share)


def _may_smooth(smoothing: Any) -> bool:
    return not (isinstance(smoothing, float) and smoothing == 0)  # left out, it is 0.0


def _unless_zero(smoothing: Any, plain: Array, smooth: Array) -> Array:
    """`smooth`, which for a smoothing of 0 is `plain` even where infinities meet it."""
    return jnp.where((smoothing == 0) & ~jnp.isfinite(smooth), plain, smooth)


def _batched(log_p: Array, target: Array) -> tuple[Array, Array, bool]:
    """Both with a batch dimension, and whether it is new."""
    if category(target.dtype) != 1:
        refuse(f"`target` must hold integers, got {describe(target)}", error=TypeError)
    if log_p.ndim == 0:
        refuse("`input` must have at least 1 dimension, got 0", error=ValueError)
    if log_p.ndim == 1 and target.shape in ((), (1,)):
        return log_p[None], target.reshape(1), True
    want = log_p.shape[:1] + log_p.shape[2:]
    if log_p.ndim == 1 or target.shape != want:
        refuse(
            f"`target` must have the shape {list(want)} of `input`, {describe(log_p)}, without its "
            f"classes, got {describe(target)}",
            error=ValueError,
        )
    return log_p, target, False


def _check_weight(weight: Array | None, classes: int) -> None:
    if weight is not None and weight.shape != (classes,):
        refuse(f"`weight` must be [{classes}], one for each class, got {describe(weight)}")


def _weighted(x: Array, weight: Array | None) -> Array:
    return x if weight is None else x * weight.reshape(-1, *(1,) * (x.ndim - 2))
