"""Cross entropies of class numbers and of class probabilities."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from functx._core import available, category, describe, LONG, refuse, Requirement
from functx._ops.quotients import quotient

from .normalized_exponentials import log_probabilities


def classes_exist(target: Any, classes: int, ignore_index: Any) -> Requirement:
    """The requirement that each class number exists or is the one that is ignored."""
    return Requirement(
        (_wide(target) == _wide(ignore_index)) | ((target >= 0) & (target < classes)),
        f"`target` must lie in [0, {classes - 1}] or be `ignore_index`, got {{got}}",
        target,
        IndexError,
    )


def entropies(
    logits: Array, target: Array, weight: Array | None, ignore_index: Any, smoothing: Any
) -> tuple[Array, Array]:
    """The loss of each row of logits, and the share of each row in the mean."""
    log_p = log_probabilities(logits, 0 if logits.ndim == 1 else 1) if logits.size else logits
    if category(target.dtype) < 2:
        return class_losses(log_p, target, weight, ignore_index, smoothing)
    if category(target.dtype) == 3:
        refuse(f"`target` must hold real probabilities, got {describe(target)}", error=TypeError)
    return _losses_of_probabilities(log_p, target, weight, smoothing)


def reduced_losses(loss: Array, share: Array, reduction: str) -> Array:
    """The losses, their sum, or their sum divided by the sum of their shares."""
    if reduction == "none":
        return loss
    return quotient(jnp.sum(loss), jnp.sum(share)) if reduction == "mean" else jnp.sum(loss)


def class_losses(
    log_p: Array, target: Array, weight: Array | None, ignore_index: Any, smoothing: Any
) -> tuple[Array, Array]:
    """The loss and the share of each class number, as `entropies` gives them, from log
    probabilities.
    """
    log_p, target, unbatched = _batched(log_p, target)
    classes = log_p.shape[1]
    weight = _checked(weight, log_p)
    counted = _wide(target) != _wide(ignore_index)
    exists = (target >= 0) & (target < classes)
    at = jnp.where(counted & exists, target, 0)[:, None]
    if classes == 0:
        picked = jnp.zeros(target.shape, log_p.dtype)
    else:
        picked = jnp.take_along_axis(log_p, at, axis=1, mode="promise_in_bounds")[:, 0]
    picked = jnp.where(exists | ~counted, picked, jnp.nan)
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
    """Class numbers in the widest integers: narrow ones cannot hold every `ignore_index`."""
    return lax.convert_element_type(x, available(LONG))


def _losses_of_probabilities(
    log_p: Array, target: Array, weight: Array | None, smoothing: Any
) -> tuple[Array, Array]:
    if log_p.shape != target.shape:
        refuse(
            f"`target` must hold class numbers, or have the shape of `input`, {list(log_p.shape)}, "
            f"got {describe(target)}"
        )
    unbatched = log_p.ndim == 1
    if unbatched:
        log_p, target = log_p[None], target[None]
    classes = log_p.shape[1]
    weight = _checked(weight, log_p)
    target = target.astype(log_p.dtype)
    if _may_smooth(smoothing):
        smooth = target * (1 - smoothing) + smoothing / classes
        target = _unless_zero(smoothing, target, smooth)
    loss = -jnp.sum(_weighted(log_p * target, weight), axis=1)
    share = jnp.ones_like(loss)
    return (loss[0], share[0]) if unbatched else (loss, share)


def _may_smooth(smoothing: Any) -> bool:
    return not (isinstance(smoothing, float) and smoothing == 0)  # the default is 0.0


def _unless_zero(smoothing: Any, plain: Array, smooth: Array) -> Array:
    """`smooth`, which for a smoothing of 0 is `plain` even where infinities meet it."""
    return jnp.where((smoothing == 0) & ~jnp.isfinite(smooth), plain, smooth)


def _batched(log_p: Array, target: Array) -> tuple[Array, Array, bool]:
    """Log probabilities and targets with a batch dimension, and whether that dimension is new."""
    if category(target.dtype) != 1:
        refuse(f"`target` must hold integers, got {describe(target)}", error=TypeError)
    if log_p.ndim == 0:
        refuse("`input` must have at least 1 dimension, got 0", error=ValueError)
    if log_p.ndim == 1 and target.shape in ((), (1,)):
        return log_p[None], target.reshape(1), True
    want = log_p.shape[:1] + log_p.shape[2:]
    if log_p.ndim == 1 or target.shape != want:
        refuse(
            f"`target` must have the shape {list(want)} of `input`, {list(log_p.shape)}, without "
            f"its classes, got {describe(target)}",
            error=ValueError,
        )
    return log_p, target, False


def _checked(weight: Array | None, log_p: Array) -> Array | None:
    """`weight` in the dtype of the logarithms, which may be wider than the call's."""
    classes = log_p.shape[1]
    if weight is not None and weight.shape != (classes,):
        refuse(f"`weight` must be [{classes}], one for each class, got {describe(weight)}")
    return None if weight is None else weight.astype(log_p.dtype)


def _weighted(x: Array, weight: Array | None) -> Array:
    return x if weight is None else x * weight.reshape(-1, *(1,) * (x.ndim - 2))
