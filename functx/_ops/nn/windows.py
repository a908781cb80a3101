"""Sliding windows over the trailing dimensions: what convolution and pooling have in common."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe, known, known_sizes, refuse, Size


def per_dimension(value: Any, n: int, name: str, *, least: int = 0) -> tuple[Size, ...]:
    """One int or size for each of `n` dimensions, from one or a sequence of one or `n`."""
    several = value if isinstance(value, (tuple, list)) else (value,)
    if len(several) not in (1, n):
        refuse(f"`{name}` must be an int or {n} of them, got {value}", error=ValueError)
    try:
        ints = [operator.index(v) if known(v) else v for v in several]
    except TypeError:
        ints = []
    if not ints or any(isinstance(v, bool) for v in several):
        refuse(f"`{name}` must be an int or {n} of them, got {describe(value)}", error=TypeError)
    if min(known_sizes(ints), default=least) < least:
        refuse(f"`{name}` must be at least {least}, got {value}", error=ValueError)
    return tuple(ints) * (n if len(ints) == 1 else 1)


def require_countable(sizes: Sequence[Size]) -> None:
    """Refuses images of so many elements that 64 bits do not count their bytes."""
    if math.prod(known_sizes(sizes)) >= 2**60:
        refuse(f"images of {list(sizes)} are more than memory holds", error=MemoryError)


def windows(x: jax.Array, axis: int, kernel: int, stride: int, dilation: int) -> jax.Array:
    """Dimension `axis` of `x` as two: which window, and where in the window."""
    count = (x.shape[axis] - dilation * (kernel - 1) - 1) // stride + 1
    make: Any = np if known(count) else jnp
    positions = make.arange(count)[:, None] * stride + make.arange(kernel) * dilation
    return jnp.take(x, positions, axis, mode="clip")
