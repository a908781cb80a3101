"""The search for equal layers in an order of a program's equations."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from functx._core.jax_compat import Literal
from functx._transforms.partitioning.work import bytes_of

from .layers import EqualLayers, layers_at
from .orders import NumberedEquations, reached
from .repeats import stretches


# How many ways to cut a stretch into layers are tried, and how many stretches are looked at.
CUTS = 8
STRETCHES = 200


@dataclasses.dataclass
class LoopSearch:
    """A search for equal layers in a program.

    - `numbered`: the program's equations; `numbers`: equal for those that compute the same.
    - `least`: the fewest layers that become a loop.
    - `found`: the loops so far; `taken`: the places of their equations.
    """

    numbered: NumberedEquations
    numbers: Sequence[int]
    least: int
    found: list[EqualLayers] = dataclasses.field(default_factory=list)
    taken: set[int] = dataclasses.field(default_factory=set)

    def run(self, order: Sequence[int]) -> None:
        """Finds loops of equations that no loop has yet. What saves most is found first."""
        numbers = [self.numbers[at] for at in order]
        for start, length, period in stretches(numbers, self.least)[:STRETCHES]:
            inside = order[start : start + length]
            if self.taken.isdisjoint(inside):
                loops = [*self._cut(inside, period)]
                if loops:
                    self.found.append(max(loops, key=lambda loop: len(loop.places)))
                    self.taken |= self.found[-1].inside

    def _cut(self, inside: Sequence[int], period: int) -> Iterator[EqualLayers]:
        """The layers in a stretch, in ways in which the fewest bytes go from one to the next."""
        least = None
        for size, start in _cuts(self.numbered, inside, period)[:CUTS]:
            if least is not None and size > least:
                return
            count = (len(inside) - start) // period
            places = [inside[start + t * period :][:period] for t in range(count)]
            for first, last in ((0, count), (1, count), (0, count - 1), (1, count - 1)):
                if last - first >= self.least and (loop := self._loop(places[first:last])):
                    least = size
                    yield self._with_layers_before(loop)
                    break

    def _loop(self, places: Sequence[Sequence[int]]) -> EqualLayers | None:
        """The layers at `places`, if they can run as one: nothing outside comes between them."""
        loop = layers_at(self.numbered, places)
        if loop is None:
            return None
        outside = self.numbered.places(loop.operands)
        return None if reached(self.numbered, self.found, outside) & loop.inside else loop

    def _with_layers_before(self, loop: EqualLayers) -> EqualLayers:
        """The loop with layers before it whose equations do not stand together."""
        while (before := self._layer_before(loop)) is not None:
            longer = self._loop([before, *loop.places])
            if longer is None:
                break
            loop = longer
        return loop

    def _layer_before(self, loop: EqualLayers) -> list[int] | None:
        """The places of equations that made what the first layer is given, as later layers did."""
        makers, eqns, first = self.numbered.makers, self.numbered.eqns, loop.places[0]
        number = {at: j for layer in loop.places for j, at in enumerate(layer)}
        used = self.taken | loop.inside
        matched: dict[int, int] = {}
        pairs = [*zip(loop.last, loop.carried, strict=True)]
        while pairs:
            later, earlier = pairs.pop()
            if isinstance(earlier, Literal) or earlier not in makers:
                return None
            j, at = number[makers[later]], makers[earlier]
            model = eqns[first[j]]
            if at in used or self.numbers[at] != self.numbers[first[j]]:
                return None
            result = eqns[makers[later]].outvars.index(later)
            if eqns[at].outvars.index(earlier) != result or matched.setdefault(j, at) != at:
                return None
            if len(matched) > len(first):
                return None
            for x, y in zip(model.invars, eqns[at].invars, strict=True):
                if not isinstance(x, Literal) and makers.get(x) in first:
                    pairs.append((x, y))
        complete = len(matched) == len(first) == len(set(matched.values()))
        return [matched[j] for j in range(len(first))] if complete else None


def _cuts(
    numbered: NumberedEquations, inside: Sequence[int], period: int
) -> list[tuple[float, int]]:
    """Where layers may begin, by the bytes that are made before and read after, then by layers."""
    place = {at: i for i, at in enumerate(inside)}
    last: dict[Any, int] = {}
    for i, at in enumerate(inside):
        last.update((x, i) for x in _variables(numbered, at) if numbered.makers.get(x) in place)
    changes = np.zeros(len(inside) + 2)
    for x, end in last.items():
        changes[place[numbered.makers[x]] + 1] += bytes_of(x)
        changes[end + 1] -= bytes_of(x)
    alive = np.cumsum(changes)
    middle = min(len(inside) // period // 2 * period, len(inside) - period)
    key = lambda start: (alive[middle + start], -((len(inside) - start) // period), start)
    return [(alive[middle + start], start) for start in sorted(range(period), key=key)]


def _variables(numbered: NumberedEquations, at: int) -> Iterator[Any]:
    return (x for x in numbered.eqns[at].invars if not isinstance(x, Literal))
