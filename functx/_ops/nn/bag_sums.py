"""Sums of rows of a table, one for each bag of row numbers.

XLA for CPUs writes the rows of all bags to memory before it adds them, and their cotangents alike.
There, bags are walked through side by side instead: the first row of each, the second, and so on.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from functx._core import accumulator, as_number, platform_dependent
from functx._core.rules.custom_derivatives import derivative_rules


_AT_ONCE = 8  # rows of a bag that are added in one step
_UNEVEN = 4  # times the mean size that the longest bag may have
LEAST = 8  # rows of a bag from which on bags are walked through


def sums_of_equal_bags(weight: Array, index: Array, padding: int | None) -> Array:
    """`[bags, width]` sums for `[bags, n]` row numbers, in the dtype that sums have.

    Rows that do not exist are NaN. `padding` is a row that is left out, without a gradient.
    """
    return _summed(weight.shape[0], weight.dtype, padding, np.nan)(weight, index)


def _summed(
    rows: int, dtype: np.dtype, padding: int | None, fill: float
) -> Callable[[Array, Array], Array]:
    """Linear in the table, but for the `fill` that stands for rows that do not exist."""
    wide = accumulator(dtype)

    row = _reading(dtype, padding, fill)

    def walked(weight: Array, index: Array) -> Array:
        step = lambda total, index: (total + row(weight, index), None)
        none = jnp.zeros((index.shape[0], weight.shape[1]), wide)
        return lax.scan(step, none, index.T, unroll=_AT_ONCE)[0]

    def forward(weight: Array, index: Array) -> Array:
        whole = lambda weight, index: jnp.sum(row(weight, index), 1)
        return platform_dependent(weight, index, cpu=walked, default=whole)

    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: _summed(rows, dtype, padding, 0)(
            tangents[0], primals[1]
        ),
        vjp=lambda primals, output, cotangent: (
            _spread(rows, dtype, padding)(cotangent, primals[1]),
            None,
        ),
        name="nn.functional.embedding_bag",
    )


def _reading(dtype: np.dtype, padding: int | None, fill: float) -> Callable[[Array, Array], Array]:
    """What reads rows of a table of this dtype: 0 for the padding, `fill` for those beyond it."""

    def rows(weight: Array, index: Array) -> Array:
        out = weight.at[index].get(mode="fill", fill_value=fill).astype(accumulator(dtype))
        return out if padding is None else jnp.where((index == padding)[..., None], 0, out)

    return rows


def _spread(rows: int, dtype: np.dtype, padding: int | None) -> Callable[[Array, Array], Array]:
    """The transposed map: for each row of the table the sum of what its bags get."""

    def kept(index: Array) -> Array:
        return index if padding is None else jnp.where(index == padding, rows, index)

    def walked(cotangent: Array, index: Array) -> Array:
        step = lambda total, index: (total.at[index].add(cotangent, mode="drop"), None)
        none = jnp.zeros((rows, cotangent.shape[1]), cotangent.dtype)
        return lax.scan(step, none, kept(index).T)[0]

    def whole(cotangent: Array, index: Array) -> Array:
        none = jnp.zeros((rows, cotangent.shape[1]), cotangent.dtype)
        return none.at[kept(index)].add(cotangent[:, None], mode="drop")

    def forward(cotangent: Array, index: Array) -> Array:
        out = platform_dependent(cotangent, index, cpu=walked, default=whole)
        return out.astype(dtype)

    return derivative_rules(
        forward,
        jvp=lambda primals, output, tangents: _spread(rows, dtype, padding)(
            tangents[0], primals[1]
        ),
        vjp=lambda primals, output, cotangent: (
            _summed(rows, dtype, padding, 0)(cotangent, primals[1]),
            None,
        ),
        name="nn.functional.embedding_bag",
    )


def sums_of_bags(
    weight: Array, index: Array, offsets: Array, bags: Array, number: int, padding: int | None
) -> Array:
    """`[number, width]` sums for `[n]` row numbers, of which each bag begins at one of `offsets`.

    `bags` says the same: the bag of each number. Bags of about one size are walked through; with
    one that is much longer than the others, most steps would be for it alone.
    """
    rows, dtype, wide = weight.shape[0], weight.dtype, accumulator(weight.dtype)
    n = index.shape[0]
    steps = as_number(-(-_UNEVEN * n // number), np.int32)

    def added(fill: float) -> Callable[..., Array]:
        row = _reading(dtype, padding, fill)

        def one_by_one(weight: Array, index: Array, offsets: Array, bags: Array) -> Array:
            none = jnp.zeros((number, weight.shape[1]), wide)
            return none.at[bags].add(row(weight, index), mode="drop")

        def walked(weight: Array, index: Array, offsets: Array, bags: Array) -> Array:
            starts = jnp.sort(offsets).astype(np.int32)
            ends = jnp.append(starts, np.int32(n))[1 : number + 1]
            starts = starts[:number]
            sizes = ends - starts
            longest = jnp.max(sizes)

            def step(state: tuple[Array, Array]) -> tuple[Array, Array]:
                k, total = state
                inside = k < sizes
                at = index.at[jnp.where(inside, starts + k, 0)].get(mode="clip")
                more = jnp.where(inside[:, None], row(weight, at), 0)
                return k + np.int32(1), total + more

            def side_by_side() -> Array:
                # In lanes both ways are computed: the limit is for those that do not take this one.
                limit = jnp.minimum(longest, steps)
                none = jnp.zeros((number, weight.shape[1]), wide)
                return lax.while_loop(lambda s: s[0] < limit, step, (jnp.int32(0), none))[1]

            return lax.cond(
                longest <= steps, side_by_side, lambda: one_by_one(weight, index, offsets, bags)
            )

        return lambda *args: platform_dependent(*args, cpu=walked, default=one_by_one)

    def spread(cotangent: Array, index: Array, bags: Array) -> Array:
        out = cotangent.at[bags].get(mode="fill", fill_value=0)
        if padding is not None:
            index = jnp.where(index == padding, rows, index)
        none = jnp.zeros((rows, cotangent.shape[1]), wide)
        return none.at[index].add(out, mode="drop").astype(dtype)

    def linear(fill: float) -> Callable[..., Array]:
        return derivative_rules(
            added(fill),
            jvp=lambda primals, output, tangents: linear(0)(tangents[0], *primals[1:]),
            vjp=lambda primals, output, cotangent: (
                spread(cotangent, primals[1], primals[3]),
                None,
                None,
                None,
            ),
            name="nn.functional.embedding_bag",
        )

    return linear(np.nan)(weight, index, offsets, bags)
