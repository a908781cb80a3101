"""Cross entropies, in NumPy."""

from __future__ import annotations

import numpy as np


EQUAL_WEIGHTS, UNWEIGHTED = "equal weights and none", "PyTorch has no derivative in the weights"


def np_cross_entropy(x, t, weight=None, **options):
    axis = 0 if x.ndim == 1 else 1
    shifted = x - x.max(axis, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
    return np_loss(log_p, t, weight, **options)


def np_loss(
    log_p,
    t,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    axis, unbatched = (0 if log_p.ndim == 1 else 1), log_p.ndim == 1
    log_p = np.moveaxis(log_p, axis, -1)
    classes = log_p.shape[-1]
    w = np.ones(classes) if weight is None else weight
    if t.dtype.kind == "i":
        counted = t != ignore_index
        target = np.eye(classes)[np.where(counted, t, 0)] * counted[..., None]
        share = (target * w).sum()
        uniform = counted[..., None] / classes
    else:
        target = np.moveaxis(t, axis, -1)
        share, uniform = (1 if unbatched else target[..., 0].size), 1 / classes
    target = target * (1 - label_smoothing) + label_smoothing * uniform
    weighed = log_p * target * w
    if t.dtype.kind == "i" and not label_smoothing:
        weighed = np.where(target == 0, 0, weighed)  # what is not looked up may be infinite
    loss = -weighed.sum(-1)
    if reduce is False or reduction == "none":
        return loss
    return loss.sum() if size_average is False or reduction == "sum" else loss.sum() / share
