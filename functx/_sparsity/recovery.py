"""Which element of which product is an entry of the matrix, by colouring."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from functx._core import fail

from .coloring import Coloring
from .forests import Forest
from .patterns import SparsityPattern


@dataclasses.dataclass(frozen=True)
class Recovery:
    """The entries of a pattern, read off products, those of one colour in one row of them.

    - `products`, `elements`: for each entry the product and its element, `[nnz]`.
    - `forest`: of an acyclic colouring, what solves for the entries; else None.
    """

    products: np.ndarray
    elements: np.ndarray
    forest: Forest | None = None

    def entries(self, products: Any) -> jax.Array:
        """The entries, `[nnz]`, of products `[colors, elements]`."""
        if self.forest is not None:
            return self.forest.entries(products)
        return products[self.products, self.elements]


def recovery(who: str, pattern: SparsityPattern, coloring: Coloring) -> Recovery:
    """How a pattern's entries are found; a colouring that cannot tell them apart is refused."""
    size = pattern.shape[0] if coloring.kind == "row" else pattern.shape[1]
    if coloring.colors.size != size:
        fail(
            who,
            f"`coloring` must have a colour for each of {size}, got {coloring!r}",
            error=ValueError,
        )
    rows, columns, colors = pattern.rows, pattern.columns, coloring.colors
    if coloring.kind == "row":
        single = _alone(columns, colors[rows], coloring.count)
        _require(who, coloring, single, rows, columns)
        return Recovery(colors[rows], columns)
    if coloring.kind == "column":
        single = _alone(rows, colors[columns], coloring.count)
        _require(who, coloring, single, rows, columns)
        return Recovery(colors[columns], rows)
    apart = rows == columns
    neighbors = ~apart & (colors[rows] == colors[columns])
    _require(who, coloring, ~neighbors, rows, columns)
    if coloring.kind == "acyclic":
        forest = Forest.of(rows, columns, coloring)
        if forest is None:
            fail(
                who,
                "`coloring` is not acyclic: two of its colours have a cycle in the pattern",
                hint="functx.sparsity.color(pattern, 'acyclic') is one",
                error=ValueError,
            )
        return Recovery(colors[columns], rows, forest)
    single = _alone(rows, colors[columns], coloring.count)
    other = _alone(columns, colors[rows], coloring.count)
    _require(who, coloring, single | other, rows, columns)
    return Recovery(
        np.where(single, colors[columns], colors[rows]), np.where(single, rows, columns)
    )


def _alone(elements: np.ndarray, colors: np.ndarray, count: int) -> np.ndarray:
    """Whether each entry is the only one in its element of its product."""
    keys = elements.astype(np.int64) * max(1, count) + colors
    _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts[which] == 1


def _require(
    who: str, coloring: Coloring, good: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> None:
    if not good.all():
        at = [(int(rows[k]), int(columns[k])) for k in np.flatnonzero(~good)[:3]]
        fail(
            who,
            f"`coloring` does not tell the entries of the pattern apart, such as {at}, "
            f"got {coloring!r}",
            hint=f"functx.sparsity.color(pattern, {coloring.kind!r}) does",
            error=ValueError,
        )


def stacked(products: Sequence[jax.Array]) -> jax.Array:
    """Products of several leaves, `[colors, *leaf]`, as one array `[colors, elements]`."""
    flat = [x.reshape(x.shape[0], -1) for x in products]
    return flat[0] if len(flat) == 1 else jnp.concatenate(flat, 1)
