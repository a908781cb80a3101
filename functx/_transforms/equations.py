"""What an equation of a recorded program is to its author: an operator, a rule, a line of code."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import jax
from jax.extend.core import Jaxpr, JaxprEqn, jaxprs_in_params

import functx._core
from functx._core import REGISTRY


__all__ = ["Line", "equations", "inner_programs", "label_of", "line_of", "operator_of", "stack_of"]

_NOT_THE_USERS = tuple(
    str(Path(m.__file__ or "").parents[n]) for m, n in [(functx._core, 1), (jax, 0)]
)


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of a user's code."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} ({self.function})"


def operator_of(eqn: JaxprEqn) -> str | None:
    """The operator of the catalog that the equation calls, by its full name, or None."""
    name = eqn.params.get("name") if eqn.primitive.name in ("jit", "pjit") else None
    return name if name in REGISTRY else None


def label_of(eqn: JaxprEqn) -> str:
    """What to call the equation: the operator, the function with own rules, or the primitive."""
    own = eqn.params.get("call") or eqn.params.get("linear")  # of functions with own rules
    return operator_of(eqn) or getattr(own, "name", None) or eqn.primitive.name


def line_of(eqn: JaxprEqn) -> Line | None:
    """The innermost line outside functx and JAX that led to the equation, if there is one."""
    traceback = eqn.source_info.traceback
    for frame in traceback.frames if traceback is not None else ():
        if not frame.file_name.startswith(_NOT_THE_USERS):
            return Line(frame.file_name, frame.line_num, frame.function_name)
    return None


def stack_of(eqn: JaxprEqn) -> str:
    """The transforms that made the equation, outermost first: `transpose(jvp())`, or nothing."""
    return str(eqn.source_info.name_stack)


def inner_programs(eqn: JaxprEqn) -> Iterator[Jaxpr]:
    """The programs that the equation runs: of a `jit`, a loop, each branch of a `cond`."""
    yield from jaxprs_in_params(eqn.params)


def equations(jaxpr: Jaxpr, *, inside_operators: bool = True) -> Iterator[JaxprEqn]:
    """All equations, those of inner programs after the one that runs them."""
    for eqn in jaxpr.eqns:
        yield eqn
        if inside_operators or operator_of(eqn) is None:
            for inner in inner_programs(eqn):
                yield from equations(inner, inside_operators=inside_operators)
