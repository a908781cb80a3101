"""Computations that take some rows at a time.

The large intermediate array of all rows never exists at once, and is not kept for a backward pass.
Rabe and Staats, *Self-attention does not need O(n^2) memory*, 2021.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from functx._core import decided


MANY = 2**20  # numbers; beyond these, rows are taken in blocks
_FEWEST = 8  # the least number of rows in a block


def has_rows(x: Array) -> bool:
    """Whether the last dimension but one is cut into blocks; not if its one row serves all."""
    return decided(lambda: x.shape[-2] > 1, otherwise=True)


def in_blocks(f: Callable[..., Array], width: int, *arrays: Any) -> Array:
    """`f(first, *blocks)` for blocks of consecutive rows, which are the last dimension but one of
    all arrays.

    For each row `f` needs `width` numbers. It returns as many rows as it gets, and is computed
    again where it is differentiated. `first` is the number of a block's first row. An array may be
    None. There is one block if there are few numbers, or if a symbolic size leaves open how many.
    """
    rows = next(x for x in arrays if x is not None).shape[-2]
    if decided(lambda: rows * width <= MANY, otherwise=True):
        return f(0, *arrays)
    size = max(MANY // 4 // width, _FEWEST)
    if size >= rows:
        return f(0, *arrays)
    count = rows // size
    whole = count * size

    def split(x: Array) -> Array:
        blocks = x[..., :whole, :].reshape(*x.shape[:-2], count, size, x.shape[-1])
        return jnp.moveaxis(blocks, -3, 0)

    def one(block: tuple[Array, Any]) -> Array:
        first, given = block
        return f(first, *given)

    blocks = (size * jnp.arange(count, dtype="int32"), jax.tree.map(split, arrays))
    out = jnp.moveaxis(lax.map(jax.checkpoint(one, prevent_cse=False), blocks), 0, -3)
    out = out.reshape(*out.shape[:-3], whole, out.shape[-1])
    if whole == rows:
        return out
    rest = jax.tree.map(lambda x: x[..., whole:, :], arrays)
    return jnp.concatenate([out, jax.checkpoint(one)((jnp.int32(whole), rest))], -2)
