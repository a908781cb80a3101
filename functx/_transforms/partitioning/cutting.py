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

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from functx._core.jax_compat import JaxprEqn

from .linearized import Linearized, variables
from .work import bytes_of, is_fixed, work_of


_UNBOUNDED = 2**30
_LARGEST = 2**27  # of the capacities that a choice may cut: scipy's are of 32 bits, sums included
_TILT = 0.01  # by how much more the work of the last equation counts than that of the first


class Cut(NamedTuple):
    """What is kept, and the numbers of the equations that are computed again, in order."""

    kept: tuple[Any, ...]
    again: tuple[int, ...]


class CutNetwork:
    """The network of a derivative, in which cuts at several prices are found.

    - `work(eqn)`: what it costs to compute an equation again, or None where that must not be.
    """

    def __init__(
        self, derivative: Linearized, work: Callable[[JaxprEqn], float | None] = work_of
    ) -> None:
        self.derivative = derivative
        eqns = derivative.forward.eqns
        self._needed = set(derivative.needed)
        self._outputs = [[x for x in eqn.outvars] for eqn in eqns]
        given = derivative.given
        self._numbers: dict[Any, int] = {}
        for eqn in eqns:
            for x in eqn.outvars:
                self._numbers[x] = len(self._numbers)
        values, count = len(self._numbers), len(eqns)
        # Nodes: the ends, the equations, and before and after each value.
        equation, before, after = (2 + np.arange(count), 2 + count, 2 + count + values)
        sources: list[int] = []
        targets: list[int] = []

        def edge(a: int, b: int) -> None:
            sources.append(int(a))
            targets.append(int(b))

        for i in range(count):
            edge(0, equation[i])
        for n in range(values):
            edge(before + n, after + n)
        for i, eqn in enumerate(eqns):
            for x in set(variables(eqn.invars)) - given:
                edge(after + self._numbers[x], equation[i])
            for x in eqn.outvars:
                edge(equation[i], before + self._numbers[x])
        for x in self._needed:
            edge(after + self._numbers[x], 1)
        self._edges = np.array(sources), np.array(targets)
        self._size, self._count, self._values = 2 + count + 2 * values, count, values
        costs = [None if is_fixed(eqn) else work(eqn) for eqn in eqns]
        self._fixed = np.array([cost is None for cost in costs], bool)
        tilt = 1 + _TILT * np.arange(count) / max(count, 1)
        self._work = np.array([cost or 0 for cost in costs], float) * tilt
        self._bytes = np.array([bytes_of(x) for x in self._numbers], float)

    def cut(self, price: float, kept: Collection[Any] = ()) -> Cut:
        """The choice that costs least, where work costs `price` bytes.

        - `kept`: values that are kept in any case.
        """
        flow_capacity = self._capacities(price, kept)
        graph = csr_array((flow_capacity, self._edges), shape=(self._size, self._size))
        flow = maximum_flow(graph, 0, 1).flow
        left = (graph - flow).tocsr()
        left.data = np.maximum(left.data, 0)
        left.eliminate_zeros()
        there = np.zeros(self._size, bool)
        there[breadth_first_order(left, 0, return_predecessors=False)] = True
        return self._chosen(~there[2 : 2 + self._count], kept)

    def _capacities(self, price: float, kept: Collection[Any]) -> np.ndarray:
        values = self._bytes.copy()
        values[[self._numbers[x] for x in kept]] = 0
        work = self._work * price
        scale = _LARGEST / max(values.sum(), 1)
        capacities = np.full(len(self._edges[0]), _UNBOUNDED, np.int64)
        bounded = np.where(self._fixed, _UNBOUNDED, np.minimum(work * scale, _UNBOUNDED // 2))
        capacities[: self._count] = np.rint(bounded)
        capacities[self._count :][: self._values] = np.ceil(values * scale)
        return capacities.astype(np.int32)

    def _chosen(self, again: np.ndarray, kept: Collection[Any]) -> Cut:
        """Of what the cut leaves to be computed again, what the backward pass reads."""
        derivative, always = self.derivative, set(kept)
        wanted, found, keep = set(self._needed), list[int](), set[Any]()
        eqns = derivative.forward.eqns
        for i in range(self._count - 1, -1, -1):
            read = [x for x in self._outputs[i] if x in wanted]
            keep |= {x for x in read if not again[i] or x in always}
            if again[i] and not all(x in always for x in read):
                found.append(i)
                wanted |= {*variables(eqns[i].invars)} - derivative.given
        return Cut(tuple(x for x in self._numbers if x in keep), tuple(found[::-1]))
