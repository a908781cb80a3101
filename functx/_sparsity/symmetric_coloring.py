"""Star and acyclic colourings of symmetric matrices, greedy.

A. H. Gebremedhin, A. Tarafdar, F. Manne and A. Pothen, "New acyclic and star coloring algorithms
with application to computing Hessians", SIAM J. Sci. Comput. 29 (2007).
"""

from __future__ import annotations

from typing import Any

import numpy as np


class _Graph:
    """The neighbours of each vertex, with the number of each edge, the same in both directions."""

    def __init__(self, matrix: Any):
        rows, columns = matrix.nonzero()
        apart = rows != columns
        rows, columns = rows[apart], columns[apart]
        n = matrix.shape[0]
        low, high = np.minimum(rows, columns).astype(np.int64), np.maximum(rows, columns)
        pairs, edge = np.unique(low * n + high, return_inverse=True)
        order = np.lexsort((columns, rows))
        starts = np.searchsorted(rows[order], np.arange(n + 1)).tolist()
        ends, edges = columns[order].tolist(), edge[order].tolist()
        self.size, self.edges = n, len(pairs)
        self.of = [
            [*zip(ends[a:b], edges[a:b], strict=True)]
            for a, b in zip(starts[:-1], starts[1:], strict=True)
        ]


def _smallest_free(forbidden: list[int], v: int) -> int:
    """The smallest colour that is not forbidden for `v`."""
    color = 0
    while forbidden[color] == v:
        color += 1
    return color


def star_coloring(matrix: Any, order: np.ndarray) -> np.ndarray:
    """Colours such that every path of four vertices has three of them; algorithm 4.1 there."""
    graph = _Graph(matrix)
    n, of = graph.size, graph.of
    color, forbidden = [-1] * n, [-1] * (n + 1)
    first_neighbor: list[tuple[int, int, int]] = [(-1, -1, -1)] * (n + 1)  # by colour
    treated = [-1] * n
    star, hub = [-1] * graph.edges, [-1] * graph.edges  # the star of an edge, the hub of a star
    stars = 0

    def treat(v: int, w: int) -> None:
        for x, _ in of[w]:
            if color[x] >= 0:
                forbidden[color[x]] = v
        treated[w] = v

    for v in order.tolist():
        for w, vw in of[v]:
            if color[w] < 0:
                continue
            forbidden[color[w]] = v
            p, q, _ = first_neighbor[color[w]]
            if p == v:  # two neighbours of one colour: v will be their hub
                if treated[q] != v:
                    treat(v, q)
                treat(v, w)
            else:
                first_neighbor[color[w]] = (v, w, vw)
                for x, wx in of[w]:
                    if x != v and color[x] >= 0 and x == hub[star[wx]]:
                        forbidden[color[x]] = v
        color[v] = _smallest_free(forbidden, v)
        for w, vw in of[v]:
            if color[w] < 0:
                continue
            same = next((wx for x, wx in of[w] if x != v and color[x] == color[v]), None)
            if same is not None:  # vw joins the star around w
                hub[star[same]] = w
                star[vw] = star[same]
                continue
            p, q, vq = first_neighbor[color[w]]
            if p == v and q != w:  # vw and vq are a star around v
                hub[star[vq]] = v
                star[vw] = star[vq]
            else:
                star[vw] = stars
                stars += 1
    return np.array(color, np.int32)


def acyclic_coloring(matrix: Any, order: np.ndarray) -> np.ndarray:
    """Colours such that every cycle has three of them; algorithm 3.1 there."""
    graph = _Graph(matrix)
    n, of = graph.size, graph.of
    color, forbidden = [-1] * n, [-1] * (n + 1)
    first_neighbor: list[tuple[int, int, int]] = [(-1, -1, -1)] * (n + 1)  # by colour
    first_visit: list[tuple[int, int]] = [(-1, -1)] * graph.edges  # by tree
    parent = [*range(graph.edges)]  # trees as disjoint sets of edges

    def tree(edge: int) -> int:
        while parent[edge] != edge:
            parent[edge] = parent[parent[edge]]
            edge = parent[edge]
        return edge

    for v in order.tolist():
        for w, _ in of[v]:
            if color[w] >= 0:
                forbidden[color[w]] = v
        for w, _ in of[v]:
            if color[w] < 0:
                continue
            for x, wx in of[w]:
                if x == v or color[x] < 0 or forbidden[color[x]] == v:
                    continue
                met = tree(wx)
                if first_visit[met][0] != v:
                    first_visit[met] = (v, w)
                elif first_visit[met][1] != w:  # a second way into the tree would close a cycle
                    forbidden[color[x]] = v
        color[v] = _smallest_free(forbidden, v)
        for w, vw in of[v]:
            if color[w] < 0:
                continue
            p, _, vq = first_neighbor[color[w]]
            if p != v:
                first_neighbor[color[w]] = (v, w, vw)
            else:
                parent[tree(vw)] = tree(vq)
        for w, vw in of[v]:
            if color[w] < 0:
                continue
            for x, wx in of[w]:
                if x != v and color[x] == color[v]:
                    parent[tree(vw)] = tree(wx)
    return np.array(color, np.int32)
