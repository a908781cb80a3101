"""Runs a recorded program and keeps, beside its results, where the first anomaly was.

All of it is traced: what is kept is a handful of integers that go through loops and branches along
with the program's own values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import jax.numpy as jnp
from jax import Array

from functx._core.jax_compat import jaxpr_as_fun, JaxprEqn, Literal
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx._transforms.programs.nested import rebind
from functx._transforms.programs.recording import RecordedProgram
from functx._transforms.programs.walking import CALLS, CHECKPOINTS, inner_programs, LOOPS, opened

from .judging import can_be_bad, FOUND, judge, nothing_found, Seen
from .lanes import lane_axes, lanes_of, looks_into
from .sites import AnomalySite, Options, options_at, Place, site_of


LoopSteps: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Sequence[Any]


class Watch:
    """One program being watched: `sites` fills up as it is traced."""

    def __init__(self, program: RecordedProgram, options: Options) -> None:
        self.program, self.options = program, options
        self.depth = _loop_depth(program)
        self.sites: list[AnomalySite] = []

    def run(self, args: Values) -> tuple[list[Any], Array]:
        """The results of the program, and what was found while it ran."""
        return self.within(self.program, args, nothing_found(self.depth), (), Place())

    def within(
        self, program: Any, args: Values, found: Array, steps: LoopSteps, place: Place
    ) -> tuple[list[Any], Array]:
        """As `run`, for a program at `place` inside loops at `steps`, after `found` was found."""
        visitor = _Watching(self, program, found, steps, place)
        results = interpret(program, args, visitor)
        return results, visitor.judged()


class _Watching(Visitor):
    """Watches one program; the programs inside it have visitors of their own."""

    def __init__(
        self, watch: Watch, program: Any, found: Array, steps: LoopSteps, place: Place
    ) -> None:
        self.watch, self.found, self.steps, self.place = watch, found, steps, place
        self.lanes = lane_axes(opened(program)[0])
        self.values: dict[Any, Any] = {}  # of what is not judged yet
        self.seen: list[Seen] = []

    def judged(self) -> Array:
        """What is found once all equations seen so far are judged."""
        if self.seen:
            padded = (*self.steps, *self.found[len(FOUND) + len(self.steps) :])
            self.found = judge(self.found, self.seen, self.values, padded)
            self.values, self.seen = {}, []
        return self.found

    def enters(self, eqn: JaxprEqn) -> bool:
        return looks_into(eqn)

    def equation(self, eqn: JaxprEqn, operands: list[Any]) -> Values:
        results, here = bind(eqn, operands), self.place.of(eqn)
        options = options_at(here.stack, self.watch.options)
        if eqn.primitive is not lanes_of and any(options):
            if any(can_be_bad(x.aval) for x in eqn.outvars):
                self.seen.append(Seen(eqn, len(self.watch.sites), options))
                self.watch.sites.append(site_of(eqn, here, self.lanes))
                pairs = zip((*eqn.invars, *eqn.outvars), (*operands, *results), strict=True)
                self.values.update((x, y) for x, y in pairs if not isinstance(x, Literal))
        return results

    def nested(self, eqn: JaxprEqn, operands: list[Any]) -> Values:
        name, place, found = eqn.primitive.name, self.place.of(eqn), self.judged()
        if name in LOOPS:
            results, self.found = self._looped(eqn, operands, found, place)
        elif name in (*CALLS, *CHECKPOINTS):  # nothing is differentiated here any more
            program = eqn.params["jaxpr"]
            results, self.found = self.watch.within(program, operands, found, self.steps, place)
        else:

            def branch(program: Any, operands: Values, found: Array, each: Any) -> Any:
                results, found = self.watch.within(program, operands, found, self.steps, place)
                return results, found, each

            results, self.found, _ = rebind(eqn, operands, branch, found)
        return results

    def _looped(
        self, eqn: JaxprEqn, operands: list[Any], found: Array, place: Place
    ) -> tuple[Values, Array]:
        """The results of a loop, the number of whose step goes along with what is found."""
        is_scan = eqn.primitive.name == "scan"
        place = place._replace(loops=(*place.loops, "scan" if is_scan else "while_loop"))

        def step(program: Any, operands: Values, carry: Any, i: Any) -> Any:
            if is_scan:
                return *self.watch.within(program, operands, carry, (*self.steps, i), place), ()
            if program is eqn.params["cond_jaxpr"]:  # what is found there has no way out
                return jaxpr_as_fun(program)(*operands), carry, ()
            i, found = carry
            results, found = self.watch.within(program, operands, found, (*self.steps, i), place)
            return results, (i + 1, found), ()

        if is_scan:
            numbers = jnp.arange(eqn.params["length"], dtype="int32")
            return rebind(eqn, operands, step, found, numbers)[:2]
        results, (_, found), _ = rebind(eqn, operands, step, (jnp.int32(0), found))
        return results, found


def _loop_depth(program: Any) -> int:
    """How many loops, at most, run inside one another."""
    return max(
        (
            (eqn.primitive.name in LOOPS) + max(map(_loop_depth, inner_programs(eqn)), default=0)
            for eqn in opened(program)[0].eqns
        ),
        default=0,
    )
