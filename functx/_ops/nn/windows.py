"""Sliding windows over the trailing dimensions: what convolution and pooling have in common."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import describe, refuse


def per_dimension(value: Any, n: int, name: str, *, least: int = 0) -> tuple[int, ...]:
    """One int for each of `n` dimensions, from one int or a sequence of one or `n`."""
    several = value if isinstance(value, (tuple, list)) else (value,)
    if len(several) not in (1, n):
        refuse(f"`{name}` must be an int or {n} of them, got {value}", error=ValueError)
    try:
        ints = [operator.index(v) for v in several]
    except TypeError:
        ints = []
    if not ints or any(isinstance(v, bool) for v in several):
        refuse(f"`{name}` must be an int or {n} of them, got {describe(value)}", error=TypeError)
    if min(ints) < least:
        refuse(f"`{name}` must be at least {least}, got {value}", error=ValueError)
    return tuple(ints) * (n if len(ints) == 1 else 1)


def require_image(input: jax.Array, n: int) -> None:
    """Refuses what is not `[N, C, *sizes]` or `[C, *sizes]`, with elements in each of the C."""
    if input.ndim not in (n + 1, n + 2):
        refuse(
            f"`input` must have {n + 1} dimensions, or {n + 2} with a batch, got {describe(input)}"
        )
    if 0 in input.shape[input.ndim - n - 1 :]:
        refuse(f"`input` must not be empty except in its batch, got {describe(input)}")


def pooled_size(
    size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> int:
    """How many windows fit into `size`. With `ceil_mode`, the last may end beyond the padding,
    but it must start inside `size` or the padding before it."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    out = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (out - 1) * stride >= size + padding:
        out -= 1
    return out


def require_windows(sizes: Sequence[int], input: jax.Array) -> None:
    """Refuses windows that do not fit into the input."""
    if min(sizes) < 1:
        refuse(
            f"the window is larger than the input: {describe(input)} would give "
            f"{list(sizes)} windows"
        )


def windows(x: jax.Array, axis: int, kernel: int, stride: int, dilation: int) -> jax.Array:
    """Dimension `axis` of `x` as two: which window, and where in the window."""
    count = (x.shape[axis] - dilation * (kernel - 1) - 1) // stride + 1
    positions = np.arange(count)[:, None] * stride + np.arange(kernel) * dilation
    return jnp.take(x, positions, axis, mode="clip")
