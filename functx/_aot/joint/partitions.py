"""A joint graph in two: a forward pass that saves values, a backward pass that reads them."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from functx._aot.graphs.changing import pruned
from functx._aot.graphs.graph import Graph
from functx._aot.graphs.signature import flat_signature
from functx._core import describe, fail
from functx._core.jax_compat import JaxprEqn, Literal
from functx._transforms.partitioning.choices import MinCut
from functx._transforms.partitioning.cutting import CutNetwork
from functx._transforms.partitioning.following import has_loops, PlannedBodies
from functx._transforms.partitioning.numbered import NumberedValues
from functx._transforms.partitioning.operator_calls import call_of
from functx._transforms.partitioning.work import bytes_of, is_fixed
from functx._transforms.programs.inlining import closed
from functx._transforms.programs.labels import title_of
from functx._transforms.programs.walking import opened

from .joint import Halves, joint_of, JointGraph, operator_name


__all__ = ["GraphPartition", "default_partition", "min_cut_partition", "partition_saving"]

# Names of operators or primitives, or a function of such a name.
Names: TypeAlias = Iterable[str] | Callable[[str], bool]


@dataclasses.dataclass(frozen=True, eq=False)
class GraphPartition:
    """The two halves of a joint graph; `str` of it says what is saved.

    - `forward`: takes the arrays of the arguments; returns those of the outputs, then the saved
      ones.
    - `backward`: takes what is saved, then a cotangent for each inexact output; returns the
      gradients.
    - `joint`: the graph that was divided.
    - `saved`: what is saved, each the path of an input or `name type` of a node, in that order.
    - `saved_bytes`: what it takes, inputs included; `recomputed`: how many calls of operators,
      and other nodes, the backward pass computes again, in whole or in part, by name.
    """

    forward: Graph
    backward: Graph
    joint: JointGraph
    saved: tuple[str, ...]
    saved_bytes: int
    recomputed: Counter[str]

    def __str__(self) -> str:
        again = ", ".join(f"{name} x{count}" for name, count in self.recomputed.most_common())
        lines = [f"saved: {len(self.saved)} arrays, {self.saved_bytes:,} bytes"]
        lines += [f"  {name}" for name in self.saved]
        return "\n".join([*lines, f"computed again: {again or 'nothing'}"])

    def __repr__(self) -> str:
        return f"<partition that saves {len(self.saved)} arrays, {self.saved_bytes:,} bytes>"


def default_partition(joint: JointGraph) -> GraphPartition:
    """The partition that computes nothing again.

    - `joint`: a joint graph.

    What the outputs need runs forward, and what the backward pass reads of it is saved.

    >>> joint = functx.aot.joint_graph(lambda x: jnp.cos(jnp.cos(x)), jnp.ones(3, "float32"))
    >>> functx.aot.default_partition(joint).saved
    ('args[0]', 'cos f32[3]')
    """
    values = _JointValues(_checked("default_partition", joint).halves())
    return _divided(joint, values, _of_outputs(values))


def _of_outputs(values: _JointValues) -> list[int]:
    """The numbers of the values that the outputs need, and of those that must not be made twice."""
    halves = values.halves
    wanted = {x for x in halves.outputs if not isinstance(x, Literal)}
    for i in reversed(range(len(halves.forward))):
        eqn = halves.forward[i]
        if any(x in wanted for x in eqn.outvars) or is_fixed(eqn):
            wanted.update(eqn.outvars)
            wanted |= {x for x in eqn.invars if not isinstance(x, Literal)}
    return values.of([*halves.primals, *wanted])


def min_cut_partition(
    joint: JointGraph, *, save: Names = (), recompute: Names = (), recurse: bool = True
) -> GraphPartition:
    """The partition that saves the fewest bytes, without computing a product again.

    - `joint`: a joint graph.
    - `save`: operators or primitives, by name, that are not computed again; products, convolutions,
      decompositions, loops and what draws random numbers are not either.
    - `recompute`: operators or primitives that may be computed again although they are such; not
      what draws random numbers or has effects.
    - `recurse`: whether the bodies of loops and branches get such partitions of their own.

    Both may be functions from a name to a bool. Never are more bytes saved than by
    `default_partition`. It is a minimum cut, as PyTorch's `min_cut_rematerialization_partition`.

    Errors: TypeError for a `joint` of another type, ValueError for a name that nothing has.

    >>> joint = functx.aot.joint_graph(lambda x: jnp.cos(jnp.cos(x)), jnp.ones(3, "float32"))
    >>> print(functx.aot.min_cut_partition(joint))
    saved: 1 arrays, 12 bytes
      args[0]
    computed again: cos x1
    """
    joints = [_checked("min_cut_partition", joint)]
    if recurse and has_loops(joint.function.program):
        bodies = PlannedBodies(MinCut(), prevent_cse=True, steps=1)
        joints.append(joint_of(joint.function, joint.active, bodies))
    ways = [way for one in joints for way in _ways(one, save, recompute)]
    return min(ways, key=lambda partition: partition.saved_bytes)


def _ways(joint: JointGraph, save: Names, recompute: Names) -> Iterator[GraphPartition]:
    """Partitions without a cut, and the minimum cut: what is small may be cheaper to save as is."""
    values = _JointValues(joint.halves())
    named = ft.partial(values.named, "min_cut_partition")
    keeps, again = named("save", save), named("recompute", recompute)
    fixed = values.fixed | keeps | (values.heavy & ~again)
    cut = CutNetwork(values, np.ones(len(values.reads)), fixed).cut(_PRICE)
    for kept in (_of_outputs(values), values.needed, cut.kept):
        yield _divided(joint, values, kept)


_PRICE = 1e-6  # of the work of one node, in bytes: it decides between cuts of as many bytes


def partition_saving(joint: JointGraph, save: Names) -> GraphPartition:
    """The partition that saves what nodes of some names compute, and inputs, and nothing else.

    - `joint`: a joint graph.
    - `save`: names of operators or primitives, or a function from a name to a bool.

    What draws random numbers or has effects is saved, too. Errors: as for `min_cut_partition`.

    >>> joint = functx.aot.joint_graph(lambda x: jnp.exp(jnp.sin(x)), jnp.ones(3, "float32"))
    >>> functx.aot.partition_saving(joint, ["exp"]).saved
    ('args[0]', 'exp f32[3]')
    """
    values = _JointValues(_checked("partition_saving", joint).halves())
    kept = values.named("partition_saving", "save", save) | values.fixed
    every = [n for i in np.flatnonzero(kept) for n in values.outputs[i]]
    return _divided(joint, values, every)


def _checked(who: str, joint: Any) -> JointGraph:
    if not isinstance(joint, JointGraph):
        message = f"`joint` must be a joint graph, got {describe(joint)}"
        fail(who, message, hint="functx.aot.joint_graph makes one", error=TypeError)
    return joint


class _JointValues(NumberedValues):
    """The values of the forward half by number, the inputs among them, as if a node made them."""

    def __init__(self, halves: Halves) -> None:
        self.halves = halves
        super().__init__(halves.forward, halves.backward, halves.gradients, halves.primals)

    def named(self, who: str, argument: str, names: Names) -> np.ndarray:
        """Which equations came of an operator, or are a primitive, of such a name."""
        chosen = names if callable(names) else set(names)
        have = [(), *((operator_name(eqn), title_of(eqn)) for eqn in self.halves.forward)]
        if not callable(chosen):
            missing = chosen - {name for some in have for name in some}
            if missing:
                known = sorted({name for some in have for name in some if name})
                message = f"`{argument}` names {min(missing)!r}, which the function does not run"
                fail(who, message, hint=f"it runs {', '.join(known)}", error=ValueError)
        test = chosen if callable(chosen) else chosen.__contains__
        return np.array([any(test(name) for name in some if name) for some in have], bool)


def _divided(joint: JointGraph, values: _JointValues, kept: Sequence[int]) -> GraphPartition:
    """The partition that saves no more than the values with these numbers."""
    halves = values.halves
    saved = {values.values[n] for n in kept}
    again, read = _needed(halves, saved)
    order = [x for x in values.values if x in read]
    names = _names(joint, halves)
    labels = tuple(_numbered([names[x] for x in order]))
    program, consts = halves.empty.jaxpr, halves.empty.consts
    first = program.replace(
        invars=list(halves.primals), eqns=list(halves.forward), outvars=[*halves.outputs, *order]
    )
    second = program.replace(
        invars=[*order, *halves.cotangents],
        eqns=[*again, *halves.backward],
        outvars=list(halves.gradients),
    )
    inputs, outputs = joint.function.signature.input_paths, joint.function.signature.output_paths
    joints = joint.graph.signature
    forward = _graph(closed(first, consts), inputs, [*outputs, *(f"saved {x}" for x in labels)])
    backward = _graph(
        closed(second, consts),
        [*(f"saved {x}" for x in labels), *joints.input_paths[len(inputs) :]],
        joints.output_paths[len(outputs) :],
    )
    size = sum(map(bytes_of, order))
    made = {x for eqn in opened(forward.program)[0].eqns for x in eqn.outvars}
    twice = [eqn for eqn in again if any(x in made for x in eqn.outvars)]
    recomputed = _by_name(twice)
    return GraphPartition(forward, backward, joint, labels, size, recomputed)


def _needed(halves: Halves, saved: set[Any]) -> tuple[list[JaxprEqn], set[Any]]:
    """What the backward pass computes again, in order, and what it reads of the saved."""
    made = {x for eqn in halves.forward for x in eqn.outvars}
    wanted = {x for eqn in halves.backward for x in eqn.invars if not isinstance(x, Literal)}
    wanted |= {x for x in halves.gradients if not isinstance(x, Literal)}
    again: list[JaxprEqn] = []
    for eqn in reversed(halves.forward):
        missing = [x for x in eqn.outvars if x in wanted and x not in saved]
        if missing:
            if is_fixed(eqn):
                message = f"{title_of(eqn)!r} must be saved: it must not run twice"
                fail("partition_saving", message, error=ValueError)
            again.append(eqn)
            wanted |= {x for x in eqn.invars if not isinstance(x, Literal)}
    inputs = set(halves.primals)
    return again[::-1], {x for x in wanted if x in inputs or (x in saved and x in made)}


def _names(joint: JointGraph, halves: Halves) -> dict[Any, str]:
    names = {
        x: f"{operator_name(eqn) or title_of(eqn)} {describe(x.aval)}"
        for eqn in halves.forward
        for x in eqn.outvars
    }
    return names | dict(zip(halves.primals, joint.function.signature.input_paths, strict=True))


def _by_name(eqns: Sequence[JaxprEqn]) -> Counter[str]:
    """How many calls of operators the equations belong to, and how many others there are."""
    calls = dict.fromkeys(call for eqn in eqns if (call := call_of(eqn)) is not None)
    alone = (title_of(eqn) for eqn in eqns if call_of(eqn) is None)
    return Counter([*(call.operator for call in calls), *alone])


def _numbered(names: Sequence[str]) -> Iterator[str]:
    """The names; from the second time on that one comes up, with a number."""
    met: Counter[str] = Counter()
    for name in names:
        met[name] += 1
        yield name if met[name] == 1 else f"{name} ({met[name]})"


def _graph(program: Any, input_paths: Sequence[str], output_paths: Sequence[str]) -> Graph:
    left = pruned(program)

    def again(arrays: Sequence[Any]) -> Graph:
        fail(
            "graph",
            "a half of a joint graph is run at the sizes that it was traced at",
            hint="trace the joint graph at these",
            error=TypeError,
        )

    return Graph(left, flat_signature(left, input_paths, output_paths), again)
