"""Reductions of losses."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from functx._core import refuse
from functx._ops.quotients import mean


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """`reduction`, unless one of PyTorch's two older arguments says otherwise."""
    if size_average is not None or reduce is not None:
        if reduce is False:
            return "none"
        return "sum" if size_average is False else "mean"
    if reduction not in ("none", "mean", "sum"):
        refuse(f"`reduction` must be 'none', 'mean' or 'sum', got {reduction!r}", error=ValueError)
    return reduction


def reduced(loss: Array, reduction: str) -> Array:
    """The losses of all elements, their mean or their sum."""
    if reduction == "none":
        return loss
    return mean(loss) if reduction == "mean" else jnp.sum(loss)
