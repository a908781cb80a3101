"""What is known of an equation before it runs: what a report about it will say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax

from functx._core import describe
from functx._core.jax_compat import JaxprEqn
from functx._core.rules.singular_points import MARK
from functx._transforms.programs.dependence import depending_outputs
from functx._transforms.programs.labels import (
    Line,
    line_of,
    operator_of,
    stack_of,
    title_of,
)
from functx._transforms.programs.walking import inner_programs

from .lanes import LaneAxes


class Options(NamedTuple):
    """What counts as an anomaly."""

    check_nan: bool
    check_inf: bool


class Place(NamedTuple):
    """Where a program runs: the line that led to it, the transforms and loops around it."""

    line: Line | None = None
    stack: str = ""
    loops: tuple[str, ...] = ()

    def of(self, eqn: JaxprEqn) -> Place:
        """The place of `eqn`, an equation of the program that runs here."""
        stack = "/".join(filter(None, (self.stack, stack_of(eqn))))
        return Place(line_of(eqn) or self.line, stack, self.loops)


class AnomalySite(NamedTuple):
    """An equation described by strings, so that a kept program holds nothing of its user's."""

    operator: str
    rule: str | None
    line: Line | None
    stack: str
    loops: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]  # of the outputs
    lanes: tuple[LaneAxes, ...]  # of the outputs
    tangents: tuple[bool, ...]  # which outputs are tangents of the operator's
    instead: str = ""  # what to write, where it has slopes without derivatives


def site_of(eqn: JaxprEqn, place: Place, lanes: dict[Any, LaneAxes]) -> AnomalySite:
    """What is known of `eqn`, which stands at `place`; `lanes` are axes of variables."""
    outputs = [x.aval for x in eqn.outvars]
    return AnomalySite(
        title_of(eqn),
        next(iter(_RULE.findall(place.stack)[::-1]), None),
        place.line,
        place.stack,
        place.loops,
        tuple(describe(x.aval) for x in eqn.invars),
        tuple(map(describe, outputs)),
        tuple(tuple(getattr(x, "shape", ())) for x in outputs),
        tuple(lanes.get(x, ()) for x in eqn.outvars),
        _tangents(eqn, place.stack),
        next(_marks(eqn), ""),
    )


def _tangents(eqn: JaxprEqn, stack: str) -> tuple[bool, ...]:
    """Which results of a call are tangents: they read what the first, a value, does not."""
    if operator_of(eqn) is None or "jvp(" not in stack or len(eqn.outvars) < 2:
        return (False,) * len(eqn.outvars)
    (program,) = inner_programs(eqn)
    count = len(program.invars)
    own = [depending_outputs(program, [i == j for j in range(count)]) for i in range(count)]
    pushed = [reached for reached in own if not reached[0]]
    return tuple(any(reached[n] for reached in pushed) for n in range(len(eqn.outvars)))


def _marks(eqn: JaxprEqn) -> Iterator[str]:
    """What the equation's rules advise against slopes that have no derivative at some points."""
    name = getattr(eqn.params.get("linear"), "name", "")
    if name.startswith(MARK):
        yield name.removeprefix(MARK)
    for program in inner_programs(eqn):
        for inner in program.eqns:
            yield from _marks(inner)


def passes(stack: str) -> str:
    """The transforms of a stack, in words: `"in the backward pass, under vmap"`."""
    named = re.findall(r"(\w+)\(", stack)
    orders = named.count("transpose")
    words = "in the forward pass"
    if orders:
        words = "in the backward pass" + " of the backward pass" * (orders - 1)
    elif "rematted_computation" in stack:
        words = "in the forward pass, computed again"
    return words + ", under vmap" * ("vmap" in named)


_SCOPE = "functx.anomaly"
_MARK = re.compile(rf"{_SCOPE}:(\d)(\d)")
_RULE = re.compile(r"functx\.rule:([^/()]+)")  # as `function_primitives` marks it


def scope_of(options: Options) -> Any:
    """A region of a recorded function in which other options hold."""
    return jax.named_scope(f"{_SCOPE}:{options.check_nan:d}{options.check_inf:d}")


def options_at(stack: str, options: Options) -> Options:
    """The options of the innermost region that `stack` names, or `options`."""
    marks = _MARK.findall(stack)
    return Options(*(mark == "1" for mark in marks[-1])) if marks else options
