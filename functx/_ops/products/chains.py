"""Products of many matrices, in the order that costs least."""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import overload

from jax import Array

from functx._core import (
    Accepts,
    ArrayOnly,
    ArraysOnly,
    Autocast,
    describe,
    operator,
    Promote,
    refuse,
)
from functx._ops.shape.listing import listed_form


__all__ = ["chain_matmul"]


@overload
def chain_matmul(*matrices: ArrayOnly) -> Array: ...
@overload
def chain_matmul(matrices: Sequence[ArrayOnly]) -> Array: ...
@operator(promote=Promote.SAME, accepts=Accepts.NUMBER, autocast=Autocast.LOWER, form=listed_form)
def chain_matmul(matrices: ArraysOnly) -> Array:
    r"""Product of matrices, $A_1 A_2 \cdots A_n$, in the order with the fewest multiplications.

    Called `chain_matmul(a, b, c)`. One matrix is its own product.

    Shapes: `[k0, k1], [k1, k2], ... -> [k0, kn]`.

    >>> x = jnp.asarray([[1.0, 2.0]], "float32")
    >>> functx.chain_matmul(x, x.T, x)
    Array([[ 5., 10.]], dtype=float32)
    """
    if not matrices:
        refuse("expected at least one matrix, got none")
    for i, x in enumerate(matrices):
        if x.ndim != 2:
            refuse(f"`matrices[{i}]` must have 2 dimensions, got {describe(x)}")
        if i and x.shape[0] != matrices[i - 1].shape[1]:
            refuse(
                f"`matrices[{i}]` must have {matrices[i - 1].shape[1]} rows, "
                f"got {describe(x)} beside {describe(matrices[i - 1])}"
            )
    return _product(matrices, _best_cuts([x.shape[0] for x in matrices] + [x.shape[1]]))


def _product(matrices: Sequence[Array], cuts: dict[tuple[int, int], int]) -> Array:
    def between(first: int, last: int) -> Array:
        if last - first == 1:
            return matrices[first]
        cut = cuts[first, last]
        return between(first, cut) @ between(cut, last)

    return between(0, len(matrices))


def _best_cuts(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to cut each product `[first, last)` of several matrices in two."""
    cost = {(i, i + 1): 0 for i in range(len(sizes) - 1)}
    cuts = {}
    for length in range(2, len(sizes)):
        for first in range(len(sizes) - length):
            last = first + length
            whole = ft.partial(_cost, cost, sizes, first, last)
            cuts[first, last] = cut = min(range(first + 1, last), key=whole)
            cost[first, last] = whole(cut)
    return cuts


def _cost(
    known: dict[tuple[int, int], int], sizes: Sequence[int], first: int, last: int, cut: int
) -> int:
    return known[first, cut] + known[cut, last] + sizes[first] * sizes[cut] * sizes[last]
