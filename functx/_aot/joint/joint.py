"""`joint_graph`: a function and its derivative as one graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from functx._aot.graphs.graph import Graph
from functx._aot.graphs.signature import flat_signature
from functx._aot.graphs.tracing import trace
from functx._core import describe, fail
from functx._core.jax_compat import ClosedJaxpr, JaxprEqn, Literal
from functx._core.rules.tangent_types import inexact
from functx._transforms.conjugation import conjugate
from functx._transforms.partitioning.linearized import Labelling
from functx._transforms.partitioning.operator_calls import call_of
from functx._transforms.programs.inlining import closed, inlined, is_plain_call
from functx._transforms.programs.interpreting import interpret, VisitEquation
from functx._transforms.programs.walking import opened


__all__ = ["JointGraph", "joint_graph"]


def joint_graph(
    func: Callable[..., Any],
    *specs: Any,
    argnums: int | Sequence[int] | None = None,
    decompositions: Mapping[Any, Callable[..., Any] | None] | None = None,
    **keyword_specs: Any,
) -> JointGraph:
    """The graph that computes the outputs of `func`, and from cotangents of them the gradients.

    - `func`: a function of trees of arrays, recorded as by `functx.aot.trace`.
    - `specs`, `keyword_specs`: the arguments, as for `functx.aot.trace`.
    - `argnums`: the positions of the arguments whose gradients are computed: those of all floating
      and complex arrays in them. None means all arguments.
    - `decompositions`: as for `Graph.decompose`.

    Complex gradients follow PyTorch: the conjugates of JAX's.
    `functx.aot.default_partition` and `functx.aot.min_cut_partition` divide it.

    Errors: TypeError if nothing that could be differentiated is given or returned, those of
    `functx.aot.trace`.

    >>> joint = functx.aot.joint_graph(lambda x: jnp.cos(jnp.cos(x)), jnp.ones(3, "float32"))
    >>> joint.graph.counts["sin"]
    2
    >>> functx.aot.min_cut_partition(joint).saved
    ('args[0]',)
    """
    graph = trace(func, *specs, decompositions=decompositions, **keyword_specs)
    return joint_of(graph, _active(graph, argnums))


def joint_of(graph: Graph, active: Sequence[int], visit: VisitEquation | None = None) -> JointGraph:
    """The joint graph of `graph`, with gradients by the inputs with these numbers.

    - `visit`: runs the equations of the graph while it is differentiated.
    """
    program = graph.program
    jaxpr, _ = opened(program)
    moves = [i for i, x in enumerate(program.out_avals) if inexact(x)]
    if not active or not moves:
        what, which = ("argument", "takes") if not active else ("output", "returns")
        message = f"`func` must have a floating or complex {what}, it {which} "
        types = [x.aval for x in (jaxpr.outvars if active else jaxpr.invars)]
        fail("joint_graph", message + (", ".join(map(describe, types)) or "none"), error=TypeError)
    run = visit if visit is not None else Labelling([])

    def forward(*arrays: Any) -> Any:
        def at(*moved: Any) -> tuple[list[Any], list[Any]]:
            given = dict(zip(active, moved, strict=True))
            outputs = interpret(program, [given.get(i, x) for i, x in enumerate(arrays)], run)
            return [outputs[i] for i in moves], outputs

        _, pull, outputs = jax.vjp(at, *(arrays[i] for i in active), has_aux=True)
        return outputs, pull

    def both(arrays: Sequence[Any], cotangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        outputs, pull = forward(*arrays)
        return outputs, conjugate(list(pull(conjugate(list(cotangents)))))

    primals = [x.aval for x in jaxpr.invars]
    cotangents = [jaxpr.outvars[i].aval for i in moves]
    recorded = inlined(jax.make_jaxpr(both)(primals, cotangents), is_plain_call)
    paths = graph.signature.input_paths
    out_paths = [graph.signature.output_paths[i] for i in moves]
    signature = flat_signature(
        recorded,
        [*paths, *(f"cotangent of {path}" for path in out_paths)],
        [*graph.signature.output_paths, *(f"gradient of {paths[i]}" for i in active)],
    )
    again = lambda arrays: joint_of(graph.at(arrays[: len(primals)]), active, visit).graph
    return JointGraph(Graph(recorded, signature, again), graph, tuple(active), tuple(moves))


@dataclasses.dataclass(frozen=True, eq=False)
class JointGraph:
    """A function and its derivative as one graph of arrays.

    - `graph`: takes the arrays of the arguments, then a cotangent for each inexact output; returns
      the arrays of the outputs, then the gradients.
    - `function`: the graph of the function alone.
    - `active`: the numbers of the inputs that have gradients; `moves`: those of the outputs that
      have cotangents.
    """

    graph: Graph
    function: Graph
    active: tuple[int, ...]
    moves: tuple[int, ...]

    def __repr__(self) -> str:
        count, inputs = len(self.graph.nodes), len(self.active)
        return f"<joint graph of {count} nodes, gradients of {inputs} inputs>"

    def halves(self) -> Halves:
        """The equations, by whether they read cotangents."""
        jaxpr, consts = opened(self.graph.program)
        count = len(self.function.signature.input_paths)
        backward = set(jaxpr.invars[count:])
        eqns: tuple[list[JaxprEqn], list[JaxprEqn]] = [], []
        for eqn in jaxpr.eqns:
            reads = any(x in backward for x in eqn.invars if not isinstance(x, Literal))
            if reads:
                backward.update(eqn.outvars)
            eqns[reads].append(eqn)
        outputs = len(self.function.signature.output_paths)
        return Halves(
            closed(jaxpr.replace(eqns=[]), consts),
            tuple(eqns[0]),
            tuple(eqns[1]),
            tuple(jaxpr.invars[:count]),
            tuple(jaxpr.invars[count:]),
            tuple(jaxpr.outvars[:outputs]),
            tuple(jaxpr.outvars[outputs:]),
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Halves:
    """A joint graph: equations that read no cotangents, and those that do.

    - `empty`: the whole program without its equations, with the constants.
    - `forward`, `backward`: the equations; `primals`, `cotangents`: the inputs; `outputs`,
      `gradients`: the results, as atoms.
    """

    empty: ClosedJaxpr
    forward: tuple[JaxprEqn, ...]
    backward: tuple[JaxprEqn, ...]
    primals: tuple[Any, ...]
    cotangents: tuple[Any, ...]
    outputs: tuple[Any, ...]
    gradients: tuple[Any, ...]


def operator_name(eqn: JaxprEqn) -> str | None:
    """The operator whose call the equation of a joint graph came of, by its full name, or None."""
    call = call_of(eqn)
    return None if call is None else call.operator


def _active(graph: Graph, argnums: int | Sequence[int] | None) -> list[int]:
    """The numbers of the inputs that have gradients."""
    every = [i for i, x in enumerate(graph.program.in_avals) if inexact(x)]
    if argnums is None:
        return every
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    paths = graph.signature.input_paths
    found = [i for i in every if _at_position(paths[i], chosen)]
    for n in chosen:
        if not any(_at_position(paths[i], (n,)) for i in found):
            message = f"`argnums` must name arguments with floating or complex arrays, got {n}"
            fail("joint_graph", message, error=ValueError)
    return found


def _at_position(path: str, chosen: Sequence[int]) -> bool:
    return any(
        path == f"args[{n}]" or path.startswith((f"args[{n}][", f"args[{n}].")) for n in chosen
    )
