"""The steps of a recorded program: equations, and loops over equal layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from functx._core.jax_compat import Jaxpr, JaxprEqn
from functx._core.operators.catalog import operator_called
from functx._transforms.programs.inlining import is_plain_call
from functx._transforms.programs.nested import can_rebind
from functx._transforms.programs.walking import CALLS, inner_programs, opened

from .alike import EquationNumbers
from .layers import EqualLayers
from .orders import arranged, NumberedEquations
from .searching import LoopSearch


# What a program runs: an equation, or a loop.
LoopedStep: TypeAlias = JaxprEqn | EqualLayers


class LoopPlans:
    """The steps of programs, and of those inside of them, with equal layers as loops.

    - `least`: the fewest layers that become a loop.
    """

    def __init__(self, least: int) -> None:
        self.least = least
        self._numbers = EquationNumbers()
        self._steps: dict[int, tuple[Any, list[LoopedStep]]] = {}

    def steps(self, program: Any) -> list[LoopedStep]:
        """The steps of a program, in an order in which they can run."""
        jaxpr, _ = opened(program)
        if id(jaxpr) not in self._steps:
            self._steps[id(jaxpr)] = jaxpr, self._planned(jaxpr)
        return self._steps[id(jaxpr)][1]

    def enters(self, eqn: JaxprEqn) -> bool:
        """Whether there is a loop to make in programs that the equation runs."""
        if not can_rebind(eqn) or operator_called(eqn.params) is not None:
            return False
        if (
            eqn.primitive.name == "shard_map"
            or eqn.primitive.name in CALLS
            and not is_plain_call(eqn)
        ):
            return False
        return any(map(self.has_loops, inner_programs(eqn)))

    def has_loops(self, program: Any) -> bool:
        """Whether there is a loop in a program, or in those inside of it."""
        return any(isinstance(x, EqualLayers) or self.enters(x) for x in self.steps(program))

    def loops(self, program: Any) -> Iterator[EqualLayers]:
        """The loops of a program, each before those inside of its layers."""
        for step in self.steps(program):
            if isinstance(step, EqualLayers):
                yield step
                yield from self.loops(step.body)
            elif self.enters(step):
                for inner in inner_programs(step):
                    yield from self.loops(inner)

    def _planned(self, jaxpr: Jaxpr) -> list[LoopedStep]:
        if len(jaxpr.eqns) < self.least:
            return [*jaxpr.eqns]
        numbered = NumberedEquations(jaxpr)
        numbers = [
            -1 - i if eqn.effects else self._numbers.number(eqn, literals=i in numbered.parts)
            for i, eqn in enumerate(numbered.eqns)
        ]
        orders = [*numbered.orders()]
        searches = [LoopSearch(numbered, numbers, self.least) for _ in orders]
        for search, order in zip(searches, orders, strict=True):
            search.run(order)
        best = max(searches, key=lambda search: sum(loop.saved for loop in search.found))
        for order in orders:  # what the others find besides
            best.run(order)
        return arranged(numbered, best.found) if best.found else [*jaxpr.eqns]
