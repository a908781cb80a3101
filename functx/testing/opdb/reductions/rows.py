"""Rows of values that careless code gets wrong: small, large, not finite; of rank 4."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from functx._core import category
from functx.testing.make import Make
from functx.testing.opinfo import Sample
from functx.testing.samples import edge


def far(make: Make, *shape: int) -> jax.Array:
    """Values far from 1, all distinct, in any order.

    Floating ones between 1e-4 and 1e-3 in size, still normal in halves; of integers a third
    small, the others next to the greatest and to the least.
    """
    order = make.rng.permutation(math.prod(shape)).reshape(shape)
    kind = category(make.dtype)
    if kind == 0:
        return make.put(order % 2)
    if kind == 1:
        limits = np.iinfo(make.dtype)
        least = limits.min + order if limits.min else limits.max - order
        return make.put(np.choose(order % 3, [order + 1, limits.max - order, least]))
    sizes = np.geomspace(1e-4, 9e-4, order.size)[order] * make.rng.choice([-1, 1], shape)
    return make.put(sizes * np.exp(1j * make.rng.uniform(-3, 3, shape)) if kind == 3 else sizes)


def not_finite(make: Make) -> jax.Array:
    """Rows with NaN, with one infinity, with both, and with nothing else."""
    nan, inf = np.nan, np.inf
    rows = [[nan, 1, -inf, 2], [inf, 1, 3, 2], [-inf, 1, 0.5, 2], [3, inf, -inf, 2], 4 * [-inf]]
    return make.put(rows)


def at_edges(make: Make, *rest: Any, **named: Any) -> Iterator[Sample]:
    """Calls along the last dimension, which `rest` and `named` say."""
    yield edge(far(make, 1, 2, 2, 4), *rest, **named)
    if category(make.dtype) == 2:
        yield edge(not_finite(make), *rest, **named)


def among_many(make: Make, *rest: Any) -> Iterator[Sample]:
    """A call along rows so long that XLA's CPU loses NaN where it looks for the greatest."""
    if category(make.dtype) == 2:
        yield edge(make.put(np.tile(np.asarray(not_finite(make)), 256)), *rest)
