"""What a graph costs: operations, bytes that are read and written, bytes that are alive at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from functx._core.jax_compat import ClosedJaxpr, JaxprEqn
from functx._transforms.partitioning.work import bytes_of, operations_of
from functx._transforms.programs.memory import peak_bytes
from functx._transforms.programs.walking import opened

from .nodes import Node


@dataclasses.dataclass(frozen=True)
class NodeCost:
    """What the nodes of one name cost together: how many they are, operations, bytes."""

    name: str
    count: int
    flops: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a graph costs, counted from shapes; `str` of it is a table.

    - `flops`: floating-point operations. A product of matrices counts two for each term, what is
      done element by element one for each element, an operator what it runs, a loop as often as
      it runs, of a branch the dearest, a `while_loop` one step.
    - `bytes`: what the nodes read and write, each on its own; a compiler that fuses moves less.
    - `peak_bytes`: the most that is alive at once, inputs, constants and outputs included, in the
      order of the nodes, of what depends on an input or a constant.
    - `by_name`: a `NodeCost` for each name, the dearest first.

    A symbolic size counts as 64.
    """

    flops: int
    bytes: int
    peak_bytes: int
    by_name: tuple[NodeCost, ...]

    def __str__(self) -> str:
        rows = [("node", "count", "operations", "bytes")]
        rows += [(x.name, str(x.count), f"{x.flops:,}", f"{x.bytes:,}") for x in self.by_name]
        rows += [("in all", "", f"{self.flops:,}", f"{self.bytes:,}")]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in rows
        ]
        return "\n".join([*lines, f"at most {self.peak_bytes:,} bytes are alive at once"])


def cost_of(program: ClosedJaxpr, nodes: Sequence[Node]) -> Cost:
    """The cost of a program whose equations are these nodes."""
    jaxpr, _ = opened(program)
    found: dict[str, NodeCost] = {}
    for eqn, node in zip(jaxpr.eqns, nodes, strict=True):
        known = found.get(node.name, NodeCost(node.name, 0, 0, 0))
        flops, size = known.flops + operations_of(eqn), known.bytes + _moved(eqn)
        found[node.name] = NodeCost(node.name, known.count + 1, flops, size)
    rows = sorted(found.values(), key=lambda x: (-x.flops, -x.bytes, x.name))
    flops, size = sum(x.flops for x in rows), sum(x.bytes for x in rows)
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    whole = jaxpr.replace(constvars=[], invars=inputs)
    return Cost(flops, size, peak_bytes(whole, [True] * len(inputs), bytes_of), tuple(rows))


def _moved(eqn: JaxprEqn) -> int:
    return sum(map(bytes_of, (*eqn.invars, *eqn.outvars)))
