"""Which values a backward pass finds, and which it computes again, by a minimum cut.

Every value of the forward pass that the backward pass needs is kept, or computed again from what is
kept. A choice costs the bytes of what is kept, and a price for the work of what is computed again.
Its minimum is a minimum cut of a network with two ends. Equations and values on the side of the
first end are there when the backward pass begins; those on the side of the second are computed
again. The edge of an equation from the first end carries its work, the edge through a value its
bytes; the other edges, from values to equations and from equations to values, are never cut.

The network without work is that of PyTorch's `min_cut_rematerialization_partition`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .numbered import NumberedValues


_UNBOUNDED = 2**30
_LARGEST = 2**27  # of the capacities that a choice may cut: scipy's are of 32 bits, sums included
_TILT = 0.1  # by how much more the work of the last equation counts than that of the first


def _library(name: str) -> Any:
    """A module of SciPy: its import takes as long as that of functx, and only plans need it."""
    return importlib.import_module(name)


class Cut(NamedTuple):
    """The numbers of the values that are kept, and of the equations that are computed again."""

    kept: tuple[int, ...]
    again: tuple[int, ...]


class CutNetwork:
    """The network of a derivative, in which cuts at several prices are found.

    - `work`: what it is to compute each equation again; `fixed`: which of them must not be.
    """

    def __init__(self, derivative: NumberedValues, work: np.ndarray, fixed: np.ndarray) -> None:
        self.derivative = derivative
        self._count, self._values = len(derivative.reads), len(derivative.values)
        # Nodes: the ends, the equations, and before and after each value.
        equations, before = 2, 2 + self._count
        after = before + self._values
        values = np.arange(self._values)
        edges = [(np.zeros(self._count, int), equations + np.arange(self._count))]
        edges += [(before + values, after + values)]
        reading = [(n, i) for i, read in enumerate(derivative.reads) for n in read]
        made = np.array(derivative.maker, int)
        read, reader = np.array(reading, int).reshape(-1, 2).T
        edges += [(after + read, equations + reader), (equations + made, before + values)]
        needed = np.array(derivative.needed, int)
        edges += [(after + needed, np.ones(len(needed), int))]
        sources, targets = zip(*edges, strict=True)
        self._edges = np.concatenate(sources), np.concatenate(targets)
        self._size = after + self._values
        self._fixed = fixed
        self._work = work * (1 + _TILT * np.arange(self._count) / max(self._count, 1))

    def cut(self, price: float, kept: Sequence[int] = ()) -> Cut:
        """The choice that costs least, where work costs `price` bytes.

        - `kept`: values that are kept in any case.
        """
        shape = (self._size, self._size)
        sparse, graphs = _library("scipy.sparse"), _library("scipy.sparse.csgraph")
        graph = sparse.csr_array((self._capacities(price, kept), self._edges), shape=shape)
        left = (graph - graphs.maximum_flow(graph, 0, 1).flow).tocsr()
        left.data = np.maximum(left.data, 0)
        left.eliminate_zeros()
        there = np.zeros(self._size, bool)
        there[graphs.breadth_first_order(left, 0, return_predecessors=False)] = True
        return self._chosen(~there[2 : 2 + self._count], kept)

    def _capacities(self, price: float, kept: Sequence[int]) -> np.ndarray:
        values = self.derivative.bytes.astype(float)
        values[list(kept)] = 0
        scale = _LARGEST / max(values.sum(), 1)
        work = np.minimum(self._work * price * scale, _UNBOUNDED // 2)
        capacities = np.full(len(self._edges[0]), _UNBOUNDED, np.int64)
        capacities[: self._count] = np.rint(np.where(self._fixed, _UNBOUNDED, work))
        capacities[self._count :][: self._values] = np.ceil(values * scale)
        return capacities.astype(np.int32)

    def _chosen(self, again: np.ndarray, kept: Sequence[int]) -> Cut:
        """Of what the cut leaves to be computed again, what the backward pass reads."""
        derivative = self.derivative
        wanted, always = np.zeros(self._values, bool), np.zeros(self._values, bool)
        wanted[derivative.needed] = True
        always[list(kept)] = True
        found: list[int] = []
        keep: list[int] = []
        for i in range(self._count - 1, -1, -1):
            read = [n for n in derivative.outputs[i] if wanted[n]]
            if not read:
                continue
            missing = [n for n in read if not always[n]] if again[i] else []
            keep += [n for n in read if n not in missing]
            if missing:
                found.append(i)
                wanted[derivative.reads[i]] = True
        return Cut(tuple(sorted(keep)), tuple(found[::-1]))
