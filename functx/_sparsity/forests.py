"""Recovery by substitution: the entries along the trees of an acyclic colouring.

The vertices of any two colours form trees. A product of colour `c` has, at a vertex `v`, the sum of
the entries of `v` and its neighbours of colour `c`: all of the edges at `v` in one tree. So the
edge from `v` to its parent is that sum, less the edges to its children.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from .coloring import Coloring


@dataclasses.dataclass(frozen=True)
class Forest:
    """The trees of all pairs of colours, and where in them the entries are.

    A node is a vertex as it stands in the trees of its own and one other color.

    - `sums`: for each node, the product and the element that hold its sum, `[2, nodes]`.
    - `jumps`: for `k = 0, 1, ...` the nodes with an ancestor that is `2**k` levels up, and these.
    - `diagonal`: the product and the element of each entry on the diagonal, `[2, n]`.
    - `places`: for each entry, where it is among the diagonal ones and then the nodes' edges.
    """

    sums: np.ndarray
    jumps: tuple[np.ndarray, ...]
    diagonal: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, columns: np.ndarray, coloring: Coloring) -> Forest | None:
        """The forest of a symmetric pattern's entries, or None if there is a cycle."""
        colors, count = coloring.colors.astype(np.int64), max(1, coloring.count)
        on = rows == columns
        i, j = rows[~on].astype(np.int64), columns[~on].astype(np.int64)
        keys, ends = np.unique(
            np.concatenate([i * count + colors[j], j * count + colors[i]]), return_inverse=True
        )
        here, there = ends[: i.size], ends[i.size :]
        parent = _parents(here, there, keys.size)
        if parent is None:
            return None
        child = np.where(parent[here] == there, here, there)
        places = np.empty(rows.size, np.int64)
        places[on] = np.arange(on.sum())
        places[~on] = on.sum() + child
        diagonal = np.stack([colors[rows[on]], rows[on]])
        return cls(np.stack([keys % count, keys // count]), _jumps(parent), diagonal, places)

    def entries(self, products: Any) -> jax.Array:
        """The entries, `[nnz]`, of products `[colors, n]`.

        With `A` the sums over children, the edges are `(I + A)^-1` of the nodes' sums, which is
        `(I - A) (I + A^2) (I + A^4) ...`: as many steps as the logarithm of the longest path.
        """
        edges = products[self.sums[0], self.sums[1]]
        for k, (node, ancestor) in enumerate(self.jumps):
            passed = edges[node] if k else -edges[node]
            edges = edges.at[ancestor].add(passed)
        return jnp.concatenate([products[self.diagonal[0], self.diagonal[1]], edges])[self.places]


def _parents(here: np.ndarray, there: np.ndarray, nodes: int) -> np.ndarray | None:
    """The parent of each node, -1 of a root; None if there is a cycle."""
    ones = np.ones(here.size, np.int8)
    graph = sp.csr_array((ones, (here, there)), shape=(nodes, nodes))
    trees, of = csgraph.connected_components(graph, directed=False)
    if here.size // 2 != nodes - trees:  # each edge is there in both directions
        return None
    roots = np.unique(of, return_index=True)[1]
    # One more node, above all roots, so that one search finds all parents.
    above = np.concatenate([here, np.full(roots.size, nodes)])
    below = np.concatenate([there, roots])
    graph = sp.csr_array((np.ones(above.size, np.int8), (above, below)), shape=(nodes + 1,) * 2)
    found = csgraph.breadth_first_order(graph, nodes, directed=True)[1][:nodes]
    return np.where(found == nodes, -1, found)


def _jumps(parent: np.ndarray) -> tuple[np.ndarray, ...]:
    jumps, ancestor = [], parent
    while (deep := np.flatnonzero(ancestor >= 0)).size:
        jumps.append(np.stack([deep, ancestor[deep]]))
        ancestor = np.where(ancestor >= 0, ancestor[ancestor], -1)
    return tuple(jumps)
