"""Dropout."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import Accepts, ArrayLike, Key, operator, refuse


__all__ = ["dropout"]


def _drops(training: bool, p: float, **_: Any) -> bool:
    return bool(training) and 0 < p < 1


@operator(accepts=Accepts.INEXACT, random=True, draws=_drops)
def dropout(
    input: ArrayLike,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Key = None,
) -> Array:
    r"""Zeroes each element with probability `p` and scales the rest by $1 / (1 - p)$.

    Without `training`, the input as it is. `inplace` has no effect: arrays are immutable.

    >>> functx.nn.functional.dropout(jnp.ones(2, "float32"), training=False)
    Array([1., 1.], dtype=float32)
    """
    if not 0 <= p <= 1:
        refuse(f"`p` must lie in [0, 1], got {p}", error=ValueError)
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    kept = jax.random.bernoulli(key, jnp.asarray(1 - p, "float32"), input.shape)
    return input * (kept.astype(input.dtype) / (1 - p))
