"""What to keep for a budget of bytes: the least work among many cuts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .cutting import Cut, CutNetwork
from .linearized import Linearized, variables
from .segments import Segment, segments
from .work import bytes_of, is_heavy, total_bytes, work_of


@dataclasses.dataclass(frozen=True, eq=False)
class SavingPlan:
    """What a derivative keeps, what it computes again, and in which parts.

    - `kept`: values of the forward pass; `kept_bytes`: what they take together, in all steps of
      the loop whose body the program is.
    - `again`: the numbers of the equations that are computed again; `work`: how much that is.
    - `segments`: the parts of the linear pass.
    """

    kept: tuple[Any, ...]
    kept_bytes: int
    again: tuple[int, ...]
    work: int
    segments: Sequence[Segment]

    @property
    def largest(self) -> int:
        """The bytes that the largest segment computes again."""
        return max((part.bytes for part in self.segments), default=0)

    @property
    def bytes(self) -> int:
        """What is kept, and what the largest segment computes again."""
        return self.kept_bytes + self.largest


def plan_of(derivative: Linearized, cut: Cut, steps: int = 1) -> SavingPlan:
    """The plan that keeps what `cut` keeps, in each of so many steps of a loop."""
    work = sum(work_of(derivative.forward.eqns[i]) for i in cut.again)
    parts = segments(derivative, cut)
    return SavingPlan(cut.kept, steps * total_bytes(cut.kept), cut.again, work, parts)


def keeping_all(derivative: Linearized, steps: int = 1) -> SavingPlan:
    """The plan that computes nothing again: what JAX's derivatives do."""
    return plan_of(derivative, Cut(tuple(derivative.needed), ()), steps)


def min_cut_plan(derivative: Linearized, steps: int = 1) -> SavingPlan:
    """The plan that needs the fewest bytes without computing a product again.

    Products, convolutions, decompositions and loops are not computed again; what is done element
    by element is.
    """
    network = CutNetwork(derivative, lambda eqn: None if is_heavy(eqn) else 1.0)
    whole = keeping_all(derivative, steps)
    cuts = (network.cut(1e-6, borders) for borders in _borders(derivative, whole.bytes / steps))
    plans = (plan_of(derivative, cut, steps) for cut in cuts)
    return min([whole, *plans], key=lambda plan: plan.bytes)


def plan_for(derivative: Linearized, budget: float, steps: int = 1) -> SavingPlan:
    """The plan of least work that keeps to so many bytes, in so many steps of a loop.

    Where there is none, the one of the fewest bytes.
    """
    whole = keeping_all(derivative, steps)
    if whole.bytes <= budget:
        return whole
    network = CutNetwork(derivative)
    plans = (
        plan_of(derivative, cut, steps)
        for borders in _borders(derivative, whole.bytes / steps)
        for cut in _cuts(network, borders, budget / steps)
    )
    return min([whole, *plans], key=lambda plan: _rank(plan, budget))


def _rank(plan: SavingPlan, budget: float) -> tuple[bool, float, float]:
    """The order of plans: those within the budget by their work, then the others by their bytes."""
    fits = plan.bytes <= budget
    return not fits, plan.work if fits else plan.bytes, plan.bytes


_TRIALS = 14  # of the search for a price


_LOWEST, _HIGHEST = -12.0, 6.0  # powers of ten: bytes for an operation


def _cuts(network: CutNetwork, borders: frozenset[Any], budget: float) -> Iterator[Cut]:
    """Cuts that keep `borders`, at prices that come closer to the one that meets the budget.

    The lower the price of work, the fewer bytes are kept.
    """
    low, high = _LOWEST, _HIGHEST
    yield network.cut(10**low, borders)
    for _ in range(_TRIALS):
        middle = (low + high) / 2
        cut = network.cut(10**middle, borders)
        yield cut
        low, high = (low, middle) if total_bytes(cut.kept) > budget else (middle, high)


def _borders(derivative: Linearized, whole: float) -> Iterator[frozenset[Any]]:
    """Sets of values that divide the forward pass into parts, from none to many."""
    yield frozenset()
    crossing = _Crossing(derivative)
    seen = {frozenset[Any]()}
    size = whole / 2
    while size > whole / 4096:
        found = crossing.borders(size)
        if found not in seen:
            seen.add(found)
            yield found
        size /= 2**0.5


class _Crossing:
    """What is alive between two equations of a forward pass: computed before, read after."""

    def __init__(self, derivative: Linearized) -> None:
        eqns, given = derivative.forward.eqns, derivative.given
        needed = set(derivative.needed)
        self._made: dict[Any, int] = {}
        self._last: dict[Any, int] = {}
        self._needs = np.zeros(len(eqns))
        for i, eqn in enumerate(eqns):
            self._last |= dict.fromkeys(set(variables(eqn.invars)) - given, i)
            self._made |= dict.fromkeys(eqn.outvars, i)
            self._needs[i] = sum(bytes_of(x) for x in eqn.outvars if x in needed)
        alive = np.zeros(len(eqns) + 1)
        for x, last in self._last.items():
            alive[self._made[x]] += bytes_of(x)
            alive[last] -= bytes_of(x)
        self._alive = np.cumsum(alive)[: len(eqns)]  # after each equation

    def borders(self, size: float) -> frozenset[Any]:
        """What is alive where the least is, between parts that need about `size` bytes each."""
        total = np.cumsum(self._needs)
        start, places = 0.0, list[int]()
        count = len(total)
        while True:
            window = np.flatnonzero((total > start + size / 2) & (total <= start + size))
            window = window[window < count - 1]
            if not len(window):
                beyond = np.flatnonzero(total > start + size)
                window = beyond[beyond < count - 1][:1]
            if not len(window):
                break
            best = window[np.flatnonzero(self._alive[window] == self._alive[window].min())[-1]]
            places.append(int(best))
            start = max(total[best], start + 1)
        cut = np.zeros(count + 1, int)
        cut[places] = 1
        before = np.concatenate([[0], np.cumsum(cut)])  # how many places lie before an equation
        crosses = (x for x, last in self._last.items() if before[last] > before[self._made[x]])
        return frozenset(crosses)
