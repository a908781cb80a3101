"""What made a value, to its author: operator, line, pass of a derivative, loop around it."""

from __future__ import annotations

import dataclasses
from typing import Literal, TypeAlias

from functx._core.jax_compat import JaxprEqn
from functx._transforms.partitioning.operator_calls import call_computed_again, call_of
from functx._transforms.programs.labels import (
    is_library_call,
    label_of,
    Line,
    line_of,
    operator_of,
    stack_of,
    title_of,
)


Phase: TypeAlias = Literal["forward", "backward", "recomputed", ""]


@dataclasses.dataclass(frozen=True)
class Maker:
    """What made a value.

    - `kind`: `"argument"`, `"constant"` or `"operator"`.
    - `name`: the path of an argument, or the operator, function or primitive.
    - `line`: the line of the user's code.
    - `phase`: the pass of a derivative that it belongs to.
    - `inside`: the loops and branches around it, from the outside: `"scan, cond"`.
    """

    kind: Literal["argument", "constant", "operator"]
    name: str
    line: Line | None = None
    phase: Phase = ""
    inside: str = ""


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """What is around an equation: the call of an operator, a line, transforms, loops."""

    name: str = ""
    line: Line | None = None
    stack: str = ""
    inside: tuple[str, ...] = ()

    def entering(self, eqn: JaxprEqn) -> Surroundings:
        """What is around the equations of a program that `eqn` runs."""
        stack = "/".join(filter(None, (self.stack, stack_of(eqn))))
        if self.name:  # what an operator runs inside is its own affair
            return dataclasses.replace(self, stack=stack)
        return dataclasses.replace(
            self, name=_whole(eqn), line=line_of(eqn) or self.line, stack=stack
        )

    def within(self, what: str) -> Surroundings:
        """What is around the body of a loop, or a branch, unless an operator runs it."""
        return self if self.name else dataclasses.replace(self, inside=(*self.inside, what))

    def maker(self, name: str) -> Maker:
        """The maker of what is computed here, by what is called `name` if no operator is around."""
        inside = ", ".join(self.inside)
        return Maker("operator", self.name or name, self.line, _phase(self.stack), inside)


def _whole(eqn: JaxprEqn) -> str:
    """The operator that the equation belongs to, or the function of a library; or nothing."""
    if name := operator_of(eqn):
        return name
    if call := call_of(eqn) or call_computed_again(eqn):
        return call.operator
    if is_library_call(eqn):
        return title_of(eqn)
    label = label_of(eqn)
    return "" if label == eqn.primitive.name else label


def _phase(stack: str) -> Phase:
    if "transpose(" in stack:
        again = "rematted_computation" in stack or "functx.again:" in stack
        return "recomputed" if again else "backward"
    return "forward" if "jvp(" in stack else ""
