"""The backward pass of a recorded program, each of its steps with the node that it belongs to."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
from jax.interpreters.partial_eval import dce_jaxpr

from functx._core import describe
from functx._core.jax_compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from functx._transforms.arguments import kind_of_dtype
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx._transforms.programs.labels import stack_of, title_of

from .nodes import is_call, Node


_TAG = "functx.node"
_NODE = re.compile(rf"{_TAG}:(\d+)")


class Step(NamedTuple):
    """One step of a backward pass.

    - `name`: the operator or primitive that runs; `outputs`: the types of its results.
    - `node`: the forward node whose derivative it is a part of, or None.
    """

    name: str
    node: Node | None
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        """`mul f32[2] from within the backward of 1: sin, file.py:3 (loss)`."""
        text = f"{self.name} {', '.join(self.outputs)}"
        if self.node is None:
            return text
        text += f" from within the backward of {self.node.index}: {self.node.name}"
        return text if self.node.line is None else f"{text}, {self.node.line}"


class Residual(NamedTuple):
    """What a backward pass keeps of the forward pass for one node.

    - `type`: such as `"f32[3]"`.
    - `source`: the path of the input that it is, the index of the node that computed it, or None
      of a constant.
    """

    type: str
    source: int | str | None


class Backward(NamedTuple):
    """The steps of a backward pass, and what it keeps for each node."""

    steps: tuple[Step, ...]
    residuals: dict[int, tuple[Residual, ...]]


def backward_of(
    program: ClosedJaxpr, nodes: Sequence[Node], paths: Sequence[str], inputs: Sequence[int]
) -> Backward:
    """The backward pass of `program` to the `inputs` with these numbers; nothing is computed."""
    run_tagged = tagged(program)

    def forward(*arrays: Any) -> Any:
        def at(*moved: Any) -> list[Any]:
            given = dict(zip(inputs, moved, strict=True))
            values = [given.get(i, x) for i, x in enumerate(arrays)]
            return [y for y in run_tagged(values) if differentiable(y)]

        return jax.vjp(at, *(arrays[i] for i in inputs))

    recorded, (outputs, pull) = jax.make_jaxpr(forward, return_shape=True)(*program.in_avals)
    jaxpr = jax.make_jaxpr(lambda pull, cotangents: pull(cotangents))(pull, outputs).jaxpr
    jaxpr, used = dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))
    origins = _origins(recorded.jaxpr, paths)[len(outputs) :]
    kept = [origin for origin, needed in zip(origins, used, strict=False) if needed]
    residuals = {node: tuple(found) for node, found in _uses(jaxpr, kept).items()}
    return Backward(tuple(_steps(jaxpr, nodes)), residuals)


def differentiable(x: Any) -> bool:
    """Whether an array of this type has derivatives."""
    return kind_of_dtype(x.dtype) in ("real", "complex")


def tagged(program: ClosedJaxpr) -> Callable[[Sequence[Any]], list[Any]]:
    """`program`, each node under a name that its derivative inherits."""
    return lambda arrays: interpret(program, arrays, _Tagging())


class _Tagging(Visitor):
    def __init__(self) -> None:
        self.numbers = itertools.count()

    def enters(self, eqn: JaxprEqn) -> bool:
        return is_call(eqn)

    def equation(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        with jax.named_scope(f"{_TAG}:{next(self.numbers)}"):
            return bind(eqn, operands)


def node_of(eqn: JaxprEqn) -> int | None:
    """The node that the equation of a derivative of a `tagged` program belongs to."""
    tags = _NODE.findall(stack_of(eqn))
    return int(tags[0]) if tags else None


def _origins(jaxpr: Jaxpr, paths: Sequence[str]) -> list[Residual]:
    """Where each output of a forward pass comes from."""
    sources: dict[Any, int | str | None] = dict(zip(jaxpr.invars, paths, strict=True))
    for eqn in jaxpr.eqns:
        sources.update(dict.fromkeys(eqn.outvars, node_of(eqn)))
    return [
        Residual(describe(x.aval), None if isinstance(x, Literal) else sources.get(x))
        for x in jaxpr.outvars
    ]


def _uses(jaxpr: Jaxpr, residuals: Sequence[Residual]) -> dict[int, list[Residual]]:
    """The residuals, first among the inputs of a backward pass, by the nodes that read them."""
    known = dict(zip(jaxpr.invars, residuals, strict=False))
    uses: dict[int, list[Residual]] = {}
    for eqn in jaxpr.eqns:
        node = node_of(eqn)
        for x in dict.fromkeys(x for x in eqn.invars if not isinstance(x, Literal)):
            if x in known and node is not None:
                uses.setdefault(node, []).append(known[x])
    return uses


def _steps(jaxpr: Jaxpr, nodes: Sequence[Node]) -> Iterator[Step]:
    for eqn in jaxpr.eqns:
        index = node_of(eqn)
        node = None if index is None else nodes[index]
        yield Step(title_of(eqn), node, tuple(describe(x.aval) for x in eqn.outvars))
