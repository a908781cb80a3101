"""Runs a recorded program, each equation by a visitor."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax

from functx._core.jax_compat import ClosedJaxpr, Jaxpr, jaxpr_as_fun, JaxprEqn, Literal

from .nested import can_rebind, rebind
from .walking import dropped, opened


# What an equation computes from its operands.
VisitEquation: TypeAlias = Callable[[JaxprEqn, list[Any]], Sequence[Any]]


class Visitor:
    """Runs each equation as it is, those of programs inside one by one; subclasses do more.

    - `enters(eqn)`: whether `nested` runs the equation, else `equation` does.
    - `equation(eqn, operands)`: the results of an equation as a whole.
    - `nested(eqn, operands)`: the results of one whose programs are visited.
    """

    def enters(self, eqn: JaxprEqn) -> bool:
        return can_rebind(eqn)

    def equation(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        return bind(eqn, operands)

    def nested(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        def inside(program: Any, operands: Sequence[Any], carry: Any, each: Any) -> Any:
            return interpret(program, operands, self), carry, each

        return rebind(eqn, operands, inside)[0]

    def __call__(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        return (self.nested if self.enters(eqn) else self.equation)(eqn, operands)


def interpret(
    program: Any, args: Sequence[Any], visit: VisitEquation, outputs: Sequence[Any] | None = None
) -> list[Any]:
    """Runs `program`, each equation by `visit`, and lets go of values after their last use.

    - `program`: closed or not, or a `RecordedProgram`; `args`: the leaves of its arguments.
    - `visit(eqn, operands)`: a `Visitor`, or any function that returns the results.
    - `outputs`: the atoms whose values come back, by default what the program returns.
    """
    jaxpr, consts = opened(program)
    outputs = jaxpr.outvars if outputs is None else outputs
    values = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args), strict=True))
    last = dict.fromkeys(values, -1)
    for i, eqn in enumerate(jaxpr.eqns):
        last.update((x, i) for x in (*eqn.invars, *eqn.outvars) if not isinstance(x, Literal))
    last.update((x, len(jaxpr.eqns)) for x in outputs if not isinstance(x, Literal))
    ending: dict[int, list[Any]] = {}
    for x, i in last.items():
        ending.setdefault(i, []).append(x)

    def read(x: Any) -> Any:
        return x.val if isinstance(x, Literal) else values[x]

    for i, eqn in enumerate(jaxpr.eqns):
        values.update(zip(eqn.outvars, visit(eqn, [*map(read, eqn.invars)]), strict=True))
        for x in ending.get(i, ()):
            del values[x]
    return [*map(read, outputs)]


def bind(eqn: JaxprEqn, operands: Sequence[Any]) -> list[Any]:
    """What the equation computes from `operands`, in the context in which it was recorded.

    `None` stands for results that no equation reads.
    """
    pairs = zip(eqn.invars, operands, strict=True)
    given = {x: value for x, value in pairs if not isinstance(x, Literal)}
    read = [x for x in eqn.outvars if not dropped(x)]
    alone = _nothing().replace(invars=list(given), outvars=read, eqns=[eqn], effects=eqn.effects)
    closed = alone if isinstance(alone, ClosedJaxpr) else ClosedJaxpr(alone, [])
    results = iter(jaxpr_as_fun(closed)(*given.values()))
    return [None if dropped(x) else next(results) for x in eqn.outvars]


@ft.cache
def _nothing() -> Jaxpr:
    """An empty program in which one equation can be run: JAX's public way to run it."""
    return opened(jax.make_jaxpr(lambda: ())())[0]
