"""The element that a maximum pooling picks from a window: the last NaN, or else the first of the
greatest elements.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import available, category, known, LONG, lowest, platform_dependent
from functx._core.numbers.bitwise_comparison import (
    from_keys,
    greatest_key,
    invertible_keys,
    ordered_bits,
)
from functx._core.rules.custom_derivatives import derivative_rules
from functx._ops.nn.windows import a_stride_apart

from .placement import Windows


class MaxPoolResult(NamedTuple):
    """The greatest values, and their positions in each flattened image."""

    output: Array
    indices: Array


_MOST = 32  # elements along all sides of a window; those of more would make a long program
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

    def later_winner(self, a: Sequence[Array], b: Sequence[Array]) -> tuple[Array, Array]:
        """`winner`, where all positions in the second are later, or nowhere."""
        (x, i), (y, j) = a, b
        later = (y > x) | (i == NOWHERE if self._nan is None else y == self._nan)
        return lax.select(later, y, x), lax.select(later, j, i)


def greatest_of(images: jax.Array, windows: Windows) -> jax.Array:
    """The element that each window picks; of those that are NaN, any NaN.

    Where no derivative asks for positions, XLA drops them from the program.
    """
    if sum(windows.kernel) > _MOST:
        return read_at(images, positions_of_greatest(images, windows))
    if category(images.dtype) < 2:
        return _by_sides(lax.max, _around(images, windows), windows)

    def pick(images: Array) -> tuple[Array, Array]:
        keys = invertible_keys(_around(images, windows))
        values = from_keys(_by_sides(_first_greatest, keys, windows), images.dtype)
        found = values, positions_of_greatest(images, windows)
        return platform_dependent(*found, cpu=_in_memory, default=lambda *xs: xs)

    def jvp(primals: Any, output: Any, tangents: Any) -> Any:
        _, where = output
        inside = where != NOWHERE
        return jnp.where(inside, read_at(tangents[0], jnp.where(inside, where, 0)), 0), None

    return derivative_rules(pick, jvp=jvp, name="max_pool", of="output")(images)[0]


def positions_of_greatest(images: jax.Array, windows: Windows) -> jax.Array:
    """The position in its flattened image of the element that each window picks."""
    if sum(windows.kernel) > _MOST:
        return _positions_by_windows(images, windows)
    contest = Contest(images)
    least, nowhere = contest.least
    operands = _around(contest.keys, windows, least), _around(contest.positions, windows, nowhere)
    return _by_sides(contest.later_winner, operands, windows)[1]


def _by_sides(pick: Callable[[Any, Any], Any], x: Any, windows: Windows) -> Any:
    """What each window picks: each row picks one of its elements, then each plane one of its rows.

    These are a few comparisons of arrays with themselves, moved. XLA's programs for CPUs compute
    them by vectors, and a window element by element.
    """
    sides = zip(windows.kernel, windows.strides, windows.dilation, windows.counts, strict=True)
    for axis, (k, s, d, count) in reversed([*enumerate(sides, 1)]):
        moved = lambda j, x=x, axis=axis, s=s, d=d, count=count: jax.tree.map(
            lambda y: a_stride_apart(y, {axis: (j * d, count, s)}), x
        )
        x = ft.reduce(pick, map(moved, range(k)))
    return x


def _around(x: Array, windows: Windows, fill: Any = None) -> Array:
    """`x` with what windows see beside it: `fill`, by default the least number."""
    fill = np.asarray(lowest(x.dtype), x.dtype) if fill is None else fill
    return lax.pad(x, fill, [(0, 0, 0), *((*pair, 0) for pair in windows.pads)])


def _first_greatest(x: Array, y: Array) -> Array:
    """The greater of two of `invertible_keys`; the first if both are of zeros."""
    return lax.select(y > x + (x == -1).astype(x.dtype), y, x)


def _in_memory(*arrays: Array) -> tuple[Array, ...]:
    """Arrays that XLA does not compute anew, and then slowly, in each loop that uses them.

    It computes no gather anew in two loops; these take all rows in order.
    """
    return tuple(map(_all_rows, arrays))


def _all_rows(x: Array) -> Array:
    rows = x[0] if x.shape[0] == 1 and x.ndim > 2 else x  # XLA drops a gather of one row
    place = lax.iota(np.int32, rows.shape[0])
    rows = rows.at[place].get(
        mode="promise_in_bounds", unique_indices=True, indices_are_sorted=True
    )
    return rows.reshape(x.shape)


def _positions_by_windows(images: jax.Array, windows: Windows) -> jax.Array:
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
