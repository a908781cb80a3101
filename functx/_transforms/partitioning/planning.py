"""What to keep for a budget of bytes: the least work among many cuts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np

from .cutting import Cut, CutNetwork
from .numbered import NumberedDerivative
from .segments import Segment, segments


@dataclasses.dataclass(frozen=True, eq=False)
class SavingPlan:
    """What a derivative keeps, what it computes again, and in which parts.

    - `kept`: the numbers of the values that are kept; `kept_bytes`: what they take together, in all
      steps of the loop whose body the program is.
    - `again`: the numbers of the equations that are computed again; `work`: how much that is.
    - `segments`: the parts of the linear pass.
    """

    kept: tuple[int, ...]
    kept_bytes: int
    again: tuple[int, ...]
    work: float
    segments: Sequence[Segment]

    @property
    def largest(self) -> int:
        """The bytes that the largest segment computes again."""
        return max((part.bytes for part in self.segments), default=0)

    def bytes(self, inner: int = 0) -> int:
        """What is kept, and what is computed again at once.

        - `inner`: the bytes that one step of a loop inside computes again.
        """
        return self.kept_bytes + max(self.largest, inner)


def plan_of(derivative: NumberedDerivative, cut: Cut, steps: int = 1) -> SavingPlan:
    """The plan that keeps what `cut` keeps, in each of so many steps of a loop."""
    work = float(derivative.work[list(cut.again)].sum())
    kept_bytes = steps * int(derivative.bytes[list(cut.kept)].sum())
    return SavingPlan(cut.kept, kept_bytes, cut.again, work, segments(derivative, cut))


def keeping_all(derivative: NumberedDerivative, steps: int = 1) -> SavingPlan:
    """The plan that computes nothing again: what JAX's derivatives do."""
    return plan_of(derivative, Cut(tuple(derivative.needed), ()), steps)


def min_cut_plan(derivative: NumberedDerivative, steps: int = 1, inner: int = 0) -> SavingPlan:
    """The plan that needs the fewest bytes without computing a product again.

    Products, convolutions, decompositions and loops are not computed again; what is done element
    by element is.
    """
    alike = np.ones(len(derivative.reads))
    network = CutNetwork(derivative, alike, derivative.fixed | derivative.heavy)
    cuts = (network.cut(1e-6, borders) for borders in _borders(derivative))
    plans = (plan_of(derivative, cut, steps) for cut in dict.fromkeys(cuts))
    return min([keeping_all(derivative, steps), *plans], key=lambda plan: plan.bytes(inner))


def plan_for(
    derivative: NumberedDerivative, budget: float, steps: int = 1, inner: int = 0
) -> SavingPlan:
    """The plan of least work that keeps to so many bytes, in so many steps of a loop.

    Where there is none, the one of the fewest bytes.

    - `inner`: the bytes that one step of a loop inside computes again at once.
    """
    whole = keeping_all(derivative, steps)
    if whole.bytes(inner) <= budget:
        return whole
    cuts = dict.fromkeys(_cuts(derivative, max(budget - inner, 0) / steps))
    plans = [whole, *(plan_of(derivative, cut, steps) for cut in cuts)]
    return min(plans, key=lambda plan: _rank(plan, budget, inner))


def _rank(plan: SavingPlan, budget: float, inner: int) -> tuple[bool, float, float]:
    """The order of plans: those within the budget by their work, then the others by their bytes."""
    needed = plan.bytes(inner)
    fits = needed <= budget
    return not fits, plan.work if fits else needed, needed


_TRIALS = 12  # of the search for a price
_LOWEST, _HIGHEST = 1e-12, 1e3  # bytes for an operation


def _cuts(derivative: NumberedDerivative, budget: float) -> Iterator[Cut]:
    """Cuts that divide the program in several ways, at prices that come close to the budget.

    The lower the price of work, the fewer bytes are kept. The first of each way keeps the fewest;
    the others are those within the budget.
    """
    network = CutNetwork(derivative, derivative.work, derivative.fixed)
    for borders in _borders(derivative):
        least = network.cut(_LOWEST, borders)
        yield least
        if derivative.bytes[list(least.kept)].sum() > budget:
            continue
        low, high = 1e-5, _HIGHEST
        for _ in range(_TRIALS):
            middle = math.sqrt(low * high)
            cut = network.cut(middle, borders)
            if derivative.bytes[list(cut.kept)].sum() > budget:
                high = middle
            else:
                yield cut
                low = middle


def _borders(derivative: NumberedDerivative) -> Iterator[tuple[int, ...]]:
    """Sets of values that divide the forward pass into parts, from none to many."""
    yield ()
    crossing = _Crossing(derivative)
    whole = float(derivative.bytes[derivative.needed].sum())
    sizes = (whole / 2 ** (k / 2) for k in range(2, 20))
    yield from dict.fromkeys(found for size in sizes if (found := crossing.borders(size)))


class _Crossing:
    """What is alive between two equations of a forward pass: computed before, read after."""

    def __init__(self, derivative: NumberedDerivative) -> None:
        count = len(derivative.reads)
        self._maker = np.array(derivative.maker, int)
        self._last = np.full(len(derivative.values), -1)
        for i, read in enumerate(derivative.reads):
            self._last[read] = i
        needs = np.zeros(len(derivative.values))
        needs[derivative.needed] = derivative.bytes[derivative.needed]
        self._needs = np.cumsum(np.bincount(self._maker, needs, count))
        alive = np.zeros(count + 1)
        crosses = self._last >= 0
        np.add.at(alive, self._maker[crosses], derivative.bytes[crosses])
        np.add.at(alive, self._last[crosses], -derivative.bytes[crosses])
        self._alive = np.cumsum(alive)[:count]  # after each equation

    def borders(self, size: float) -> tuple[int, ...]:
        """What is alive where the least is, between parts that need about `size` bytes each."""
        total, start, count = self._needs, 0.0, len(self._needs)
        places = np.zeros(count + 1, int)
        while True:
            low, high = np.searchsorted(
                total, np.array([start + size / 2, start + size]), side="right"
            )
            if low == high:  # no equation ends a part of such a size: the next one does
                high += 1
            window = np.arange(low, min(high, count - 1))
            if not len(window):
                break
            least = self._alive[window] == self._alive[window].min()
            best = window[np.flatnonzero(least)[-1]]
            places[best] = 1
            start = max(float(total[best]), start + 1)
        before = np.concatenate([[0], np.cumsum(places)])  # how many lie before an equation
        crosses = (self._last >= 0) & (before[self._last] > before[self._maker])
        return tuple(np.flatnonzero(crosses).tolist())
