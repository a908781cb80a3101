"""Runs a recorded program, doing more at the equations that are asked for.

Programs inside are entered where something in them is asked for: what `jit` compiles, and, rebuilt
around the new steps, `scan`, `cond` and `checkpoint`. Others run as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from functx._core.jax_compat import JaxprEqn
from functx._transforms.programs.interpreting import interpret, Visitor
from functx._transforms.programs.nested import can_rebind, rebind
from functx._transforms.programs.walking import equations, inner_programs

from .primitive import tap_point


Supplies: TypeAlias = dict[str, Any]  # by name; with a leading axis for the steps of a `scan`
Asked: TypeAlias = Callable[[JaxprEqn], bool]
VisitWithTaps: TypeAlias = Callable[[JaxprEqn, list[Any], Supplies], tuple[Sequence[Any], Supplies]]


def can_enter(eqn: JaxprEqn) -> bool:
    """Whether `replay` follows taps into the programs of the equation."""
    return can_rebind(eqn) and eqn.primitive.name not in ("while", "shard_map")


def replay(
    program: Any,
    args: Sequence[Any],
    asked: Asked,
    visit: VisitWithTaps,
    supplies: Supplies,
    may_enter: Asked = can_enter,
) -> tuple[list[Any], Supplies]:
    """Runs `program`, and the equations that are `asked` for by `visit`.

    `visit(eqn, operands, supplies)` returns results, and what it found, by name. What is found in
    a `scan` is stacked, and so are the supplies for it.
    """
    visitor = _Replay(asked, visit, supplies, may_enter)
    return interpret(program, args, visitor), visitor.found


class _Replay(Visitor):
    def __init__(
        self, asked: Asked, visit: VisitWithTaps, supplies: Supplies, may_enter: Asked
    ) -> None:
        self.asked, self.visit, self.may_enter = asked, visit, may_enter
        self.supplies = supplies
        self.found: Supplies = {}

    def __call__(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        if not self.asked(eqn):
            return super().__call__(eqn, operands)
        results, found = self.visit(eqn, operands, self.supplies)
        self.found.update(found)
        return results

    def nested(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        def inside(program: Any, operands: Sequence[Any], carry: Any, supplies: Supplies) -> Any:
            visitor = _Replay(self.asked, self.visit, supplies, self.may_enter)
            return interpret(program, operands, visitor), carry, visitor.found

        supplies = self.supplies
        if eqn.primitive.name == "scan":
            there = named(eqn.params["jaxpr"])
            supplies = {name: supplies[name] for name, _ in there if name in supplies}
        results, _, found = rebind(eqn, operands, inside, each=supplies)
        self.found.update(found)
        return results

    def enters(self, eqn: JaxprEqn) -> bool:
        """Whether a program of `eqn` that may be entered holds an equation that is asked for."""
        return self.may_enter(eqn) and any(
            self.asked(each)
            for inner in inner_programs(eqn)
            for each in equations(inner, self.may_enter)
        )


def named(program: Any) -> Iterator[tuple[str, JaxprEqn]]:
    """The equations of named taps in `program` that `replay` can reach, with the names."""
    for eqn in equations(program, can_enter):
        if eqn.primitive is tap_point and eqn.params["tap"].name is not None:
            yield eqn.params["tap"].name, eqn
