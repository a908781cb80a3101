"""The order in which a product of matrices costs the fewest multiplications."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence

from jax import Array

from functx._core import decided, Size


def chained(matrices: Sequence[Array]) -> Array:
    """The product of matrices in the cheapest order; source: Cormen et al., section 14.2."""
    sizes = [x.shape[0] for x in matrices] + [matrices[-1].shape[1]]
    return _product(matrices, _best_cuts(sizes))


def _product(matrices: Sequence[Array], cuts: dict[tuple[int, int], int]) -> Array:
    def between(first: int, last: int) -> Array:
        if last - first == 1:
            return matrices[first]
        cut = cuts[first, last]
        return between(first, cut) @ between(cut, last)

    return between(0, len(matrices))


def _best_cuts(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """The cheapest place to cut each product `[first, last)` of several matrices in two."""
    cost = {(i, i + 1): 0 for i in range(len(sizes) - 1)}
    cuts = {}
    for length in range(2, len(sizes)):
        for first in range(len(sizes) - length):
            last = first + length
            whole = ft.partial(_cost, cost, sizes, first, last)
            cuts[first, last] = cut = ft.reduce(ft.partial(_cheaper, whole), range(first + 1, last))
            cost[first, last] = whole(cut)
    return cuts


def _cheaper(cost: Callable[[int], Size], cut: int, other: int) -> int:
    """The first of two cuts, unless the other is known to cost less."""
    return other if decided(lambda: cost(other) < cost(cut), otherwise=False) else cut


def _cost(
    known: dict[tuple[int, int], int], sizes: Sequence[int], first: int, last: int, cut: int
) -> int:
    return known[first, cut] + known[cut, last] + sizes[first] * sizes[cut] * sizes[last]
