"""The nodes of a recorded program, and how they hang together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from functx._core import describe
from functx._core.jax_compat import Jaxpr, JaxprEqn, Literal as Constant
from functx._transforms.programs.inlining import is_plain_call
from functx._transforms.programs.labels import (
    is_library_call,
    Line,
    line_of,
    operator_of,
    stack_of,
    title_of,
)
from functx._transforms.programs.walking import CALLS, CHECKPOINTS, inner_programs, LOOPS


NodeKind = Literal["operator", "rule", "primitive", "program"]
_PROGRAMS = (*LOOPS, "cond", *CHECKPOINTS)


class Edge(NamedTuple):
    """Where a value comes from.

    - `source`: the index of a node, or the path of an input: `"args[0]['w']"`.
    - `output`: which of the node's outputs it is; 0 for an input.
    """

    source: int | str
    output: int = 0

    def __str__(self) -> str:
        if isinstance(self.source, str):
            return self.source
        return f"{self.source}.{self.output}" if self.output else str(self.source)


class Node(NamedTuple):
    """One step of a program.

    - `index`: its place in the order of the program.
    - `name`: the operator by its full name, the function with own rules, or the primitive.
    - `kind`: `"operator"`, `"rule"` (a function with derivatives of its own), `"primitive"`, or
      `"program"` (a loop, a branch, a checkpoint).
    - `inputs`: an `Edge` for each input, None for a constant.
    - `outputs`: their types, as strings: `"f32[3]"`.
    - `scope`: the names of `jax.named_scope` around it, and the transforms that made it.
    - `line`: the line of the user's code, with `file`, `line` and `function`, or None.
    - `programs`: what it runs, one node after the other: a loop's body, each branch.
    """

    index: int
    name: str
    kind: NodeKind
    inputs: tuple[Edge | None, ...]
    outputs: tuple[str, ...]
    scope: str
    line: Line | None
    programs: tuple[tuple[Node, ...], ...]

    def __repr__(self) -> str:
        return f"<{self.kind} {self.index}: {self.name}>"


class ProgramNodes(NamedTuple):
    """The nodes of a program and where its outputs come from."""

    nodes: tuple[Node, ...]
    outputs: tuple[Edge | None, ...]


def holds_programs(eqn: JaxprEqn) -> bool:
    """Whether the equation is a node with graphs inside: a loop, a branch, a checkpoint."""
    return eqn.primitive.name in _PROGRAMS


def is_call(eqn: JaxprEqn) -> bool:
    """Whether the equation only calls a user's function, whose steps are nodes like others."""
    return eqn.primitive.name in CALLS and operator_of(eqn) is None and not is_library_call(eqn)


def is_opened(eqn: JaxprEqn) -> bool:
    """Whether a graph of operators has the steps of what the equation calls in its place."""
    return is_call(eqn) and is_plain_call(eqn)


def nodes_of(jaxpr: Jaxpr, paths: Sequence[str | None]) -> ProgramNodes:
    """The nodes of `jaxpr`, whose inputs `paths` names; inputs without a name are constants."""
    nodes: list[Node] = []
    edges = [None if path is None else Edge(path) for path in paths]
    constants: list[Edge | None] = [None] * len(jaxpr.constvars)
    outputs = _walk(jaxpr, [*constants, *edges], nodes, None)
    return ProgramNodes(tuple(nodes), tuple(outputs))


def _walk(
    jaxpr: Jaxpr, edges: Sequence[Edge | None], nodes: list[Node], line: Line | None
) -> list[Edge | None]:
    known: dict[Any, Edge | None] = dict(zip((*jaxpr.constvars, *jaxpr.invars), edges, strict=True))

    def edge(x: Any) -> Edge | None:
        return None if isinstance(x, Constant) else known[x]

    for eqn in jaxpr.eqns:
        inputs = [*map(edge, eqn.invars)]
        here = line_of(eqn) or line
        if is_call(eqn):
            inner = eqn.params["jaxpr"].jaxpr
            constants: list[Edge | None] = [None] * len(inner.constvars)
            known.update(
                zip(eqn.outvars, _walk(inner, [*constants, *inputs], nodes, here), strict=True)
            )
            continue
        index = len(nodes)
        programs = tuple(_inner(eqn)) if holds_programs(eqn) else ()
        outputs = tuple(describe(x.aval) for x in eqn.outvars)
        name, scope = title_of(eqn), stack_of(eqn)
        nodes.append(Node(index, name, _kind(eqn), tuple(inputs), outputs, scope, here, programs))
        known.update((x, Edge(index, i)) for i, x in enumerate(eqn.outvars))
    return [*map(edge, jaxpr.outvars)]


def _inner(eqn: JaxprEqn) -> Iterator[tuple[Node, ...]]:
    for inner in inner_programs(eqn):
        yield nodes_of(inner, [f"in[{i}]" for i in range(len(inner.invars))]).nodes


def _kind(eqn: JaxprEqn) -> NodeKind:
    if operator_of(eqn) is not None:
        return "operator"
    if holds_programs(eqn):
        return "program"
    own = ("function_call", "function_tangent", "custom_jvp_call", "custom_vjp_call")
    return "rule" if eqn.primitive.name in own else "primitive"
