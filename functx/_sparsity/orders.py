"""VertexOrders in which the vertices of a greedy colouring take their turns."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp


VertexOrder: TypeAlias = Literal[
    "natural", "largest_first", "smallest_last", "incidence_degree", "saturation", "random"
]


def _graph(matrix: Any, kind: str) -> Any:
    """Which vertices are neighbours, none of itself."""
    if kind in ("star", "acyclic"):
        graph = sp.csr_array(matrix)
    else:
        graph: Any = sp.csr_array(sp.csr_array(matrix.T) @ matrix)
    return sp.csr_array(graph - graph.multiply(sp.eye_array(graph.shape[0], dtype=bool)) > 0)


def _natural(matrix: Any, kind: str, seed: int) -> np.ndarray:
    return np.arange(matrix.shape[1])


def _random(matrix: Any, kind: str, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(matrix.shape[1])


def _largest_first(matrix: Any, kind: str, seed: int) -> np.ndarray:
    return np.argsort(-np.diff(_graph(matrix, kind).indptr), kind="stable")


def _smallest_last(matrix: Any, kind: str, seed: int) -> np.ndarray:
    graph = _graph(matrix, kind)
    degrees = np.diff(graph.indptr).tolist()
    return np.array(_by_degree(graph, degrees, step=-1)[::-1], int)


def _incidence_degree(matrix: Any, kind: str, seed: int) -> np.ndarray:
    graph = _graph(matrix, kind)
    return np.array(_by_degree(graph, [0] * graph.shape[0], step=1), int)


def _by_degree(graph: Any, degrees: list[int], step: int) -> list[int]:
    """The vertices, next always one of extreme degree; its neighbours' degrees change by `step`.

    The extreme is the largest where degrees grow, the smallest where they fall.
    """
    starts, neighbors = graph.indptr.tolist(), graph.indices.tolist()
    buckets: list[set[int]] = [set() for _ in range(max([graph.shape[0], *degrees]) + 1)]
    for v, degree in enumerate(degrees):
        buckets[degree].add(v)
    at, order, done = 0, [], [False] * graph.shape[0]
    while len(order) < graph.shape[0]:
        while not buckets[at]:
            at -= step
        v = buckets[at].pop()
        done[v] = True
        order.append(v)
        for w in neighbors[starts[v] : starts[v + 1]]:
            if not done[w]:
                buckets[degrees[w]].discard(w)
                degrees[w] += step
                buckets[degrees[w]].add(w)
        at = max(0, at + step) if step < 0 else min(len(buckets) - 1, at + step)
    return order


def _saturation(matrix: Any, kind: str, seed: int) -> np.ndarray:
    """Next the vertex whose neighbours have most colours, of these the one of most neighbours."""
    graph = _graph(matrix, kind)
    starts, neighbors = graph.indptr.tolist(), graph.indices.tolist()
    degrees, forbidden = np.diff(graph.indptr).tolist(), [0] * graph.shape[0]  # colours as bits
    order, done = [], [False] * graph.shape[0]
    heap = [(0, -degree, v) for v, degree in enumerate(degrees)]
    heapq.heapify(heap)
    while heap:
        saturation, _, v = heapq.heappop(heap)
        if done[v] or -saturation != forbidden[v].bit_count():  # it has moved on in the heap
            continue
        done[v] = True
        order.append(v)
        bit = ~forbidden[v] & (forbidden[v] + 1)
        for w in neighbors[starts[v] : starts[v + 1]]:
            if not done[w] and not forbidden[w] & bit:
                forbidden[w] |= bit
                heapq.heappush(heap, (-forbidden[w].bit_count(), -degrees[w], w))
    return np.array(order, int)


ORDERS: dict[str, Callable[[Any, str, int], np.ndarray]] = {
    "natural": _natural,
    "largest_first": _largest_first,
    "smallest_last": _smallest_last,
    "incidence_degree": _incidence_degree,
    "saturation": _saturation,
    "random": _random,
}
