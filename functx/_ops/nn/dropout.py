"""Dropout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from functx._core import (
    Accepts,
    ArrayLike,
    converted,
    is_probability,
    Key,
    operator,
    peek,
    Real,
    Requirement,
)


__all__ = ["dropout"]


def _drops(training: bool, p: Any, **_: Any) -> bool:
    known = peek(p)
    return bool(training) and (known is None or bool(((0 < known) & (known < 1)).any()))


def _options_fit(*, p: Any, **_: Any) -> Iterator[Requirement]:
    yield is_probability(p, "p", error=ValueError)


@operator(
    accepts=Accepts.INEXACT,
    requires=_options_fit,
    random=True,
    draws=_drops,
    synonyms={"train": "training"},
    aliases=("dropout",),
)
def dropout(
    input: ArrayLike,
    p: Real = 0.5,
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
    if not training:
        return input
    if key is None:  # nothing is drawn where p is 0 or 1
        return jnp.where(p == 0, input, input * (1 - p))
    kept = jax.random.bernoulli(key, jnp.asarray(1 - p, "float32"), input.shape)
    return input * (converted(kept, input.dtype) / jnp.where(p == 1, 1, 1 - p))
