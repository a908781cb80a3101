"""Programs whose derivatives keep and compute again what a plan says."""

from __future__ import annotations

import contextlib
import dataclasses
import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.custom_derivatives import SymbolicZero

from functx._core.jax_compat import ClosedJaxpr, jaxpr_as_fun, JaxprEqn, Literal
from functx._core.rules.tangent_types import inexact, no_tangent
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx._transforms.programs.nested import rebind
from functx._transforms.programs.walking import CALLS, equations, opened

from .choices import Choice
from .linearized import Linearized, linearized, variables
from .numbered import NumberedDerivative
from .operator_calls import call_of
from .planning import keeping_all, SavingPlan
from .segments import Segment


def following(
    program: ClosedJaxpr,
    choice: Choice,
    prevent_cse: bool = True,
    steps: int = 1,
    made: Callable[[PlannedDerivative], None] = lambda planned: None,
) -> Callable[..., list[Any]]:
    """`program` as a function of arrays with a planned derivative, and so the bodies of its loops.

    - `choice`: makes the plan of a derivative, once for each set of inputs that have tangents.
    - `prevent_cse`: whether the compiler is kept from undoing it.
    - `steps`: how often the program runs, as the body of a loop.
    - `made(planned)`: is called with each plan that is made.
    """
    jaxpr = program.jaxpr
    # The constants may be traced: they are arguments of the derivative, too.
    open_program = jaxpr.replace(invars=[*jaxpr.constvars, *jaxpr.invars], constvars=[])
    whole = ClosedJaxpr(open_program, [])
    run = jaxpr_as_fun(whole)
    known: dict[tuple[int, ...], PlannedDerivative] = {}

    @jax.custom_jvp
    def planned(*arrays: Any) -> list[Any]:
        return list(run(*arrays))

    def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        active = tuple(
            i
            for i, (x, t) in enumerate(zip(primals, tangents, strict=True))
            if not isinstance(t, SymbolicZero) and inexact(x)
        )
        if active not in known:
            known[active] = planned_derivative(whole, active, choice, prevent_cse, steps)
            made(known[active])
        outputs, values = _forward(known[active], primals)
        moving = (tangents[i] for i in active)
        values |= zip(known[active].derivative.tangents, moving, strict=True)
        moved = iter(_linear(known[active], values, prevent_cse))
        return outputs, [next(moved) if inexact(y) else no_tangent(y) for y in outputs]

    planned.defjvp(rule, symbolic_zeros=True)
    return ft.partial(planned, *program.consts)


@dataclasses.dataclass(frozen=True, eq=False)
class PlannedDerivative:
    """A derivative and its plan.

    - `whole`: the bytes that it needs without a plan.
    - `inner`: the bytes that one step of a loop computes again at once, at most.
    """

    numbered: NumberedDerivative
    plan: SavingPlan
    whole: int
    inner: int = 0

    @property
    def derivative(self) -> Linearized:
        """The derivative itself."""
        return self.numbered.derivative

    @property
    def kept(self) -> list[Any]:
        """The variables whose values are kept."""
        return [self.numbered.values[n] for n in self.plan.kept]

    @property
    def bytes(self) -> int:
        """What is kept, and what is computed again at once."""
        return self.plan.bytes(self.inner)


def planned_derivative(
    program: ClosedJaxpr,
    active: Sequence[int],
    choice: Choice,
    prevent_cse: bool = True,
    steps: int = 1,
) -> PlannedDerivative:
    """The derivative of `program` by some of its inputs, with the plan that `choice` makes."""
    plain = NumberedDerivative(linearized(program, active))
    whole = keeping_all(plain, steps).bytes()
    if not has_loops(program):
        found = PlannedDerivative(plain, choice.plan(plain, whole, steps), whole)
    else:
        tried = _with_planned_bodies(program, active, choice, prevent_cse, steps, whole)
        found = min(tried, key=lambda planned: planned.bytes)
    if not choice.fits(found.bytes, whole):
        choice.refuse(found.bytes, whole)
    return found


def _with_planned_bodies(
    program: ClosedJaxpr,
    active: Sequence[int],
    choice: Choice,
    prevent_cse: bool,
    steps: int,
    whole: int,
) -> list[PlannedDerivative]:
    """The one that fits, whose loops' bodies have plans, or all that were tried."""
    tried: list[PlannedDerivative] = []
    for inside in choice.inside(whole):
        visit = PlannedBodies(inside, prevent_cse, steps)
        run = lambda *arrays, visit=visit: interpret(program, arrays, visit)
        inner = jax.make_jaxpr(run)(*program.in_avals)
        derivative = NumberedDerivative(linearized(inner, active))
        plan = choice.plan(derivative, whole, steps, visit.largest)
        tried.append(PlannedDerivative(derivative, plan, whole, visit.largest))
        if choice.fits(tried[-1].bytes, whole):
            return tried[-1:]
    return tried


def _is_loop(eqn: JaxprEqn) -> bool:
    return eqn.primitive.name in ("scan", "cond")


def has_loops(program: Any) -> bool:
    """Whether `program` runs loops or branches."""
    return any(map(_is_loop, equations(program)))


class PlannedBodies(Visitor):
    """Runs loops and branches, whose programs have planned derivatives, too."""

    def __init__(self, choice: Choice, prevent_cse: bool, steps: int) -> None:
        self.choice, self.prevent_cse, self.steps = choice, prevent_cse, steps
        self.largest = 0  # of the bytes that a step of a loop computes again at once

    def enters(self, eqn: JaxprEqn) -> bool:
        return _is_loop(eqn) or (eqn.primitive.name in CALLS and has_loops(eqn.params["jaxpr"]))

    def nested(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        if eqn.primitive.name in CALLS:
            return interpret(eqn.params["jaxpr"], operands, self)
        steps = self.steps * eqn.params.get("length", 1)
        # A loop itself keeps the compiler from joining what its steps compute.
        prevent_cse = self.prevent_cse and eqn.primitive.name != "scan"

        def inside(program: Any, operands: Sequence[Any], carry: Any, each: Any) -> Any:
            jaxpr, consts = opened(program)
            closed = ClosedJaxpr(jaxpr, list(consts))
            planned = following(closed, self.choice, prevent_cse, steps, self.note)
            return planned(*operands), carry, each

        return rebind(eqn, operands, inside)[0]

    def note(self, planned: PlannedDerivative) -> None:
        self.largest = max(self.largest, planned.plan.largest, planned.inner)


def _forward(
    planned: PlannedDerivative, primals: Sequence[Any]
) -> tuple[list[Any], dict[Any, Any]]:
    """The outputs, and the values that the linear pass finds, by variable."""
    derivative, forward = planned.derivative, planned.derivative.forward
    read = [*forward.outvars, *planned.kept]
    results = interpret(ClosedJaxpr(forward, list(derivative.consts)), primals, bind, read)
    count = len(forward.outvars)
    values = dict(zip(forward.constvars, derivative.consts, strict=True))
    values |= zip(forward.invars, primals, strict=True)
    values |= zip(planned.kept, results[count:], strict=True)
    return results[:count], values | derivative.linear_consts


def _linear(planned: PlannedDerivative, values: dict[Any, Any], prevent_cse: bool) -> list[Any]:
    """The tangents of the outputs, segment by segment."""
    derivative, plan = planned.derivative, planned.plan
    after = {x for x in variables(derivative.out_tangents)}
    later: list[set[Any]] = []
    for part in reversed(plan.segments):
        later.append(set(after))
        linear = derivative.linear[part.start : part.stop]
        after |= {x for eqn in linear for x in variables(eqn.invars)}
    for part, wanted in zip(plan.segments, reversed(later), strict=True):
        _run_segment(derivative, part, wanted, values, prevent_cse)
    return [x.val if isinstance(x, Literal) else values[x] for x in derivative.out_tangents]


def _run_segment(
    derivative: Linearized,
    part: Segment,
    wanted: set[Any],
    values: dict[Any, Any],
    prevent_cse: bool,
) -> None:
    """Adds to `values` what a segment makes and others read."""
    linear = derivative.linear[part.start : part.stop]
    eqns = [*(derivative.forward.eqns[i] for i in part.again), *linear]
    results = [x for eqn in linear for x in eqn.outvars if x in wanted]
    made = {x for eqn in eqns for x in eqn.outvars if x not in values}
    read = dict.fromkeys(x for eqn in eqns for x in variables(eqn.invars) if x not in made)

    def run(*arrays: Any) -> list[Any]:
        here = dict(zip(read, arrays, strict=True))
        for i, eqn in enumerate(eqns):
            operands = [x.val if isinstance(x, Literal) else here[x] for x in eqn.invars]
            call = call_of(eqn) if i < len(part.again) else None
            with jax.named_scope(call.again) if call else contextlib.nullcontext():
                found = bind(eqn, operands)
            here.update((x, y) for x, y in zip(eqn.outvars, found, strict=True) if x not in here)
        return [here[x] for x in results]

    if part.again:
        run = jax.checkpoint(run, prevent_cse=prevent_cse)
    values.update(zip(results, run(*(values[x] for x in read)), strict=True))
