"""Where a value of a recorded program comes from: an argument, a constant, an operator."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from functx._core.jax_compat import Jaxpr, JaxprEqn, Literal as Number
from functx._transforms.programs.labels import label_of, Line, line_of, operator_of
from functx._transforms.programs.walking import inner_programs


_AS_IT_IS = ("reduce_precision", "name")  # marks a value, and hands it on


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where a value comes from."""

    kind: Literal["argument", "constant", "operator"]
    name: str
    line: Line | None


FindOrigin = Callable[[], Origin]


class InnerProgram:
    """A program inside the one that calls it, with the origins of its inputs."""

    def __init__(self, jaxpr: Jaxpr, inputs: Sequence[FindOrigin], line: Line | None = None):
        self.given: dict[Any, FindOrigin] = dict(zip(jaxpr.invars, inputs, strict=True))
        self.made = {x: (eqn, i) for eqn in jaxpr.eqns for i, x in enumerate(eqn.outvars)}
        self.line = line

    def origin(self, atom: Any) -> Origin:
        """Where the value that `atom` names comes from."""
        if isinstance(atom, Number):
            return Origin("constant", str(np.asarray(atom.val)), None)
        if atom in self.given:
            return self.given[atom]()
        if atom not in self.made:
            return Origin("constant", "", None)
        eqn, i = self.made[atom]
        if eqn.primitive.name in _AS_IT_IS:
            return self.origin(eqn.invars[0])
        return self._made_by(eqn, i)

    def _made_by(self, eqn: JaxprEqn, i: int) -> Origin:
        line = line_of(eqn) or self.line
        here = Origin("operator", label_of(eqn), line)
        programs = [p for p in inner_programs(eqn) if len(p.outvars) == len(eqn.outvars)]
        if operator_of(eqn) is not None or not programs:
            return here
        if eqn.primitive.name == "scan":
            carries = len(programs[0].outvars) - _stacked(eqn)
            return self._inside(programs[0], eqn, i, here, carries)
        branches = [self._inside(program, eqn, i, here) for program in programs]
        if len(branches) == 1:
            return branches[0]
        names = dict.fromkeys(b.name for b in branches if b.name not in _FILLERS)
        return dataclasses.replace(here, name=" or ".join(names) or here.name)

    def _inside(
        self, program: Jaxpr, eqn: JaxprEqn, i: int, here: Origin, carries: int | None = None
    ) -> Origin:
        """The origin inside a program that the equation runs, whose last operands are its own."""
        operands = eqn.invars[len(eqn.invars) - len(program.invars) :]
        inputs = [_later(self, x) for x in operands]
        if carries is not None:
            first = eqn.params.get("num_consts", 0)
            carry = dataclasses.replace(here, name="carry of scan")
            inputs[first : first + carries] = [lambda: carry] * carries
        return InnerProgram(program, inputs, here.line).origin(program.outvars[i])


_FILLERS = ("broadcast_in_dim", "empty", "empty2", "full")  # of a branch that keeps nothing there


def _later(scope: InnerProgram, atom: Any) -> FindOrigin:
    return lambda: scope.origin(atom)


def _stacked(eqn: JaxprEqn) -> int:
    """How many results of a `scan` are stacked over its steps: those with one dimension more."""
    (program,) = inner_programs(eqn)
    results: list[Any] = [x.aval for x in eqn.outvars]
    of_step: list[Any] = [x.aval for x in program.outvars]
    return sum(x.ndim > y.ndim for x, y in zip(results, of_step, strict=True))
