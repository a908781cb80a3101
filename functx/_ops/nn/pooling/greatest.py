"""The element that a maximum pooling picks from a window: the last NaN, or else the first of the
greatest elements.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import available, category, known, LONG, lowest
from functx._core.numbers.bitwise_comparison import greatest_key, ordered_bits

from .placement import Windows


class MaxPoolResult(NamedTuple):
    """The greatest values, and their positions in each flattened image."""

    output: Array
    indices: Array


NOWHERE = np.int32(np.iinfo(np.int32).max)  # the position of what is padded


class Contest:
    """Keys and positions of the elements of images `[B, *sizes]`, and how two of them compare."""

    def __init__(self, images: jax.Array):
        self.keys = ordered_bits(lax.stop_gradient(images))  # the positions carry no tangent
        size = math.prod(images.shape[1:])
        positions = (np if known(size) else jnp).arange(size, dtype=np.int32)
        self.positions = jnp.broadcast_to(positions.reshape(1, *images.shape[1:]), images.shape)
        self.least = jnp.asarray(np.iinfo(self.keys.dtype).min, self.keys.dtype), NOWHERE
        self._nan = greatest_key(self.keys.dtype) if category(images.dtype) == 2 else None

    def winner(self, a: Sequence[Array], b: Sequence[Array]) -> tuple[Array, Array]:
        """The winner of two keys with their positions. Whatever the order in which many are
        compared, the winner is the same.
        """
        (x, i), (y, j) = a, b
        first = j < i if self._nan is None else (j < i) != (y == self._nan)
        later = (y > x) | ((y == x) & first)
        return lax.select(later, y, x), lax.select(later, j, i)


def positions_of_greatest(images: jax.Array, windows: Windows) -> jax.Array:
    """The position in its flattened image of the element that each window picks."""
    contest = Contest(images)
    operands = [
        windows.around(x, fill)
        for x, fill in zip((contest.keys, contest.positions), contest.least, strict=True)
    ]
    _, where = lax.reduce_window(
        tuple(x for x, _ in operands),
        contest.least,
        contest.winner,
        (1, *windows.kernel),
        (1, *windows.strides),
        ((0, 0), *operands[0][1]),
        window_dilation=(1, *windows.dilation),
    )
    return where


def read_at(images: jax.Array, where: jax.Array) -> jax.Array:
    """The elements at positions `[B, *counts]` of images `[B, *sizes]`; a position outside of the
    image reads the least number.
    """
    batch, *sizes = images.shape
    flat, beyond = images.reshape(batch, math.prod(sizes)), lowest(images.dtype)
    if not known(*where.shape):  # JAX may not see that their product is not negative
        each = ft.partial(jnp.take, mode="fill", fill_value=beyond)
        return jax.vmap(each)(flat, where)
    out = jnp.take_along_axis(
        flat,
        where.reshape(batch, math.prod(where.shape[1:])),
        axis=1,
        mode="fill",
        fill_value=beyond,
    )
    return out.reshape(where.shape)


def as_images(input: Array, n: int) -> jax.Array:
    """`[B, *sizes]`: all dimensions before the `n` trailing ones are flattened."""
    return input.reshape(math.prod(input.shape[:-n]), *input.shape[-n:])


def answer(
    input: Array, out: Array, where: Array, *, return_indices: bool
) -> Array | MaxPoolResult:
    """Values and positions `[B, *counts]` as a pooling of `input` gives them."""
    shape = (*input.shape[: input.ndim - out.ndim + 1], *out.shape[1:])
    if not return_indices:
        return out.reshape(shape)
    return MaxPoolResult(out.reshape(shape), where.astype(available(LONG)).reshape(shape))
