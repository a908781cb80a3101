"""Colourings: which columns, rows or variables share one product."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, get_args, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from functx._core import describe, fail

from .orders import ORDERS, VertexOrder
from .patterns import SparsityPattern
from .symmetric_coloring import acyclic_coloring, star_coloring


ColoringKind: TypeAlias = Literal["column", "row", "star", "acyclic"]
PAIRS = 2**20  # of columns that meet in a row: up to so many, the order "auto" looks at them


@dataclasses.dataclass(frozen=True, eq=False)
class Coloring:
    """A colour for each column, row or variable: those of one colour share a product.

    - `colors`: the colours, `[n]`, whole numbers from 0 on.
    - `kind`: what they are for. Of a `"column"` colouring, no two columns of one colour have an
      entry in the same row; of a `"row"` colouring, no two rows one in the same column. A `"star"`
      and an `"acyclic"` colouring are of a symmetric matrix: neighbours differ in colour, and the
      neighbours of any two colours form stars, or trees.
    """

    colors: np.ndarray
    kind: ColoringKind = "column"

    def __post_init__(self) -> None:
        colors = np.asarray(self.colors)
        if colors.ndim != 1 or colors.dtype.kind not in "iu" or (colors < 0).any():
            fail(
                "sparsity.Coloring",
                f"`colors` must be one dimension of whole numbers, none negative, got "
                f"{describe(colors)}",
                error=ValueError,
            )
        require_kind("sparsity.Coloring", self.kind)
        object.__setattr__(self, "colors", colors.astype(np.int32))

    @property
    def count(self) -> int:
        """How many colours there are, and so products."""
        return int(self.colors.max(initial=-1)) + 1

    def groups(self) -> list[np.ndarray]:
        """For each colour, the numbers of its columns, rows or variables."""
        return [np.flatnonzero(self.colors == color) for color in range(self.count)]

    def __repr__(self) -> str:
        return f"Coloring({self.kind!r}, {self.count} colors of {self.colors.size})"


def color(
    pattern: SparsityPattern | Any,
    kind: ColoringKind = "column",
    order: VertexOrder | Literal["auto"] | Sequence[VertexOrder] = "auto",
    *,
    seed: int = 0,
) -> Coloring:
    """A greedy colouring of a pattern: each vertex in turn takes the smallest colour that it may.

    - `pattern`: a `SparsityPattern`, or a matrix that one is made of.
    - `kind`: `"column"` for Jacobian-vector products, `"row"` for vector-Jacobian products,
      `"star"` for Hessians whose entries are read off Hessian-vector products, `"acyclic"` for
      those that are solved for, which needs fewer colours.
    - `order`: in which the vertices take their turns: `"natural"`, as they are numbered;
      `"largest_first"`, those of most neighbours first; `"smallest_last"`, the one of fewest
      neighbours among those left last, and so on backwards; `"incidence_degree"`, next the one of
      most neighbours that had their turn; `"saturation"`, next the one whose neighbours have most
      colours; `"random"`. Of several orders, the colouring of fewest colours is taken, and the
      first of these. Neighbours of a column are those that have an entry in a row with it.
      `"auto"` is the natural order, and saturation too for rows and columns, where at most 2^20
      pairs of them are neighbours.
    - `seed`: of the order `"random"`.

    Errors: ValueError for another kind or order, and for a star or acyclic colouring of a matrix
    that is not symmetric.

    Source: A. H. Gebremedhin, F. Manne and A. Pothen, "What color is your Jacobian?", SIAM Review
    47 (2005); star and acyclic: with A. Tarafdar, "New acyclic and star coloring algorithms", SIAM
    J. Sci. Comput. 29 (2007); saturation: D. Brélaz, Comm. ACM 22 (1979).

    >>> tridiagonal = jnp.tri(6, k=1) * jnp.tri(6, k=1).T
    >>> functx.sparsity.color(tridiagonal), functx.sparsity.color(tridiagonal, "acyclic")
    (Coloring('column', 3 colors of 6), Coloring('acyclic', 2 colors of 6))
    """
    pattern = pattern if isinstance(pattern, SparsityPattern) else SparsityPattern(pattern)
    require_kind("sparsity.color", kind)
    matrix = pattern.T.to_scipy() if kind == "row" else pattern.to_scipy()
    orders = check_orders("sparsity.color", order)
    if orders == ("auto",):
        orders = _cheap_orders(matrix, kind)
    if kind in ("star", "acyclic"):
        _require_symmetric(pattern)
    found = [_COLORING[kind](matrix, ORDERS[one](matrix, kind, seed)) for one in orders]
    return Coloring(min(found, key=lambda colors: colors.max(initial=-1)), kind)


def check_orders(who: str, order: Any) -> tuple[Any, ...]:
    """VertexOrders as a tuple; another than there is, or none, is refused."""
    orders = (order,) if isinstance(order, str) or order is None else tuple(order)
    for one in orders:
        if one not in ORDERS and orders != ("auto",):
            names = ", ".join(map(repr, ("auto", *ORDERS)))
            fail(who, f"`order` must be one of {names}, got {describe(one)}", error=ValueError)
    if not orders:
        fail(who, "`order` must not be empty", error=ValueError)
    return orders


def _cheap_orders(matrix: Any, kind: str) -> tuple[VertexOrder, ...]:
    pairs = np.sum(np.diff(matrix.indptr).astype(np.int64) ** 2)
    both = kind in ("row", "column") and pairs <= PAIRS
    return ("natural", "saturation") if both else ("natural",)


def require_kind(who: str, kind: Any) -> None:
    """Refuses another kind of colouring than there is."""
    if kind not in get_args(ColoringKind):
        names = ", ".join(map(repr, get_args(ColoringKind)))
        fail(who, f"`kind` must be one of {names}, got {describe(kind)}", error=ValueError)


def _require_symmetric(pattern: SparsityPattern) -> None:
    if pattern.shape[0] != pattern.shape[1] or pattern.T != pattern:
        fail(
            "sparsity.color",
            f"a star or acyclic colouring is of a symmetric pattern, got {pattern!r}",
            hint="pattern | pattern.T is symmetric",
            error=ValueError,
        )


def _of_columns(matrix: Any, order: np.ndarray) -> np.ndarray:
    """Partial colouring at distance two: for each row, the colours of its columns as bits."""
    columns: Any = sp.csc_array(matrix)
    starts, rows = columns.indptr.tolist(), columns.indices.tolist()
    taken = [0] * matrix.shape[0]
    colors = np.zeros(matrix.shape[1], np.int32)
    for j in order.tolist():
        own = rows[starts[j] : starts[j + 1]]
        forbidden = 0
        for i in own:
            forbidden |= taken[i]
        bit = ~forbidden & (forbidden + 1)  # the lowest that is free
        for i in own:
            taken[i] |= bit
        colors[j] = bit.bit_length() - 1
    return colors


_COLORING: dict[str, Callable[[Any, np.ndarray], np.ndarray]] = {
    "column": _of_columns,
    "row": _of_columns,
    "star": star_coloring,
    "acyclic": acyclic_coloring,
}
