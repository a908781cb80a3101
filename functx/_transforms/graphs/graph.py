"""`make_graph`: what a function computes and what its derivative will do, before anything runs."""

from __future__ import annotations

import functools as ft
import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import jax

from functx._core import describe, fail
from functx._core.jax_compat import ClosedJaxpr
from functx._transforms.arguments import require_callable
from functx._transforms.concretization import tracing
from functx._transforms.outputs import path_of_output
from functx._transforms.programs.partition import array_paths, partition
from functx._transforms.programs.recording import HoldsProgram

from .backward import Backward, backward_of, differentiable, Residual, Step
from .drawing import dot, listing
from .needed import nodes_between
from .nodes import Edge, Node, nodes_of


__all__ = ["make_graph"]


def make_graph(func: Callable[..., Any]) -> Callable[..., Graph]:
    """A function from arguments to the `Graph` of `func` at these arguments; nothing is run.

    - `func`: a function of trees of arrays. It is recorded as by `jax.jit`, so it may not ask for
      the value of an array.

    The returned function takes the arguments of `func`, of any shapes and dtypes. Functions that
    `func` calls, compiled ones too, are taken apart into nodes; operators, functions with own
    rules, JAX's own functions, loops, branches and checkpoints are nodes.

    Errors: those that `func` raises while it is recorded, such as JAX's ConcretizationTypeError
    where Python asks for the value of an array.

    >>> f = lambda x, y: functx.sum(functx.exp(x) * y)
    >>> g = functx.autograd.graph.make_graph(f)(jnp.ones(3), jnp.ones(3))
    >>> g.nodes
    (<operator 0: exp>, <primitive 1: mul>, <operator 2: sum>)
    >>> g.nodes[1].inputs
    (Edge(source=0, output=0), Edge(source='args[1]', output=0))
    >>> g.needed_for("args[1]")
    (<primitive 1: mul>, <operator 2: sum>)
    """
    require_callable("make_graph", func)

    @ft.wraps(func)
    def at(*args: Any, **kwargs: Any) -> Graph:
        given = partition((args, kwargs))
        results: list[tuple[str, Any]] = []

        def over_arrays(*arrays: Any) -> list[Any]:
            args, kwargs = given.whole(arrays)
            output = tracing("make_graph", func, *args, **kwargs)
            leaves = jax.tree_util.tree_leaves_with_path(output)
            results[:] = [(path_of_output(path), x) for path, x in leaves if partition(x).arrays]
            return [x for _, x in results]

        program = jax.make_jaxpr(over_arrays)(*given.arrays)
        paths = array_paths(given)
        return Graph(program, paths, tuple(path for path, _ in results))

    return at


class Graph(HoldsProgram):
    """What a function computes, step by step, and what its derivative goes through.

    `str` of it is a table. Everything is read-only.

    - `nodes`: the steps in the order in which they run, each a `Node`. PyTorch runs backward nodes
      by sequence number, the highest first; here XLA decides, and the number is the index.
    - `inputs`, `outputs`: the types of the inputs by path, `"args[0]['w']"`, and an `Edge` for
      each output, or None for a constant.
    """

    made_by, remedy = "make_graph", "`str`, `nodes`, `to_dot` and what else a graph answers can be"

    def __init__(
        self, program: ClosedJaxpr, inputs: tuple[str, ...], outputs: tuple[str, ...]
    ) -> None:
        self._program, self._paths = program, inputs
        found = nodes_of(program.jaxpr, inputs)
        self._nodes = found.nodes
        types = map(describe, program.in_avals)
        self._inputs = MappingProxyType(dict(zip(inputs, types, strict=True)))
        self._outputs = MappingProxyType(dict(zip(outputs, found.outputs, strict=True)))
        self._backward: dict[tuple[int, ...], Backward] = {}

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The steps, in the order in which they run."""
        return self._nodes

    @property
    def inputs(self) -> Mapping[str, str]:
        """The types of the inputs, by path."""
        return self._inputs

    @property
    def outputs(self) -> Mapping[str, Edge | None]:
        """Where the outputs come from, by path; None for a constant."""
        return self._outputs

    def needed_for(self, inputs: str | int | tuple[str | int, ...]) -> tuple[Node, ...]:
        """The nodes whose backward runs for the gradient with respect to `inputs`.

        - `inputs`: the path of an input, or how it begins: `"args[0]"` are all arrays in the first
          argument, and so is 0. A tuple means all of them together.

        What is decided is dependence: a node counts if it depends on one of the inputs and a
        floating output on it, through values that have derivatives. Errors: ValueError for a path
        that is none, TypeError for inputs that have no derivatives.
        """
        return tuple(self._nodes[i] for i in nodes_between(self._program, self._chosen(inputs)))

    def backward_order(
        self, inputs: str | int | tuple[str | int, ...] | None = None
    ) -> tuple[Step, ...]:
        """The steps of the backward pass in their order, each with the node that it is for.

        - `inputs`: as for `needed_for`; by default all that have derivatives.

        Nodes whose backward hands a cotangent on as it is, an addition's, have no step.
        """
        return self._backward_of(self._chosen(inputs)).steps

    def residuals(
        self, node: Node | int, inputs: str | int | tuple[str | int, ...] | None = None
    ) -> tuple[Residual, ...]:
        """What the backward pass keeps of the forward pass for `node`: types and sources.

        - `node`: one of `nodes`, or its index; `inputs`: as for `backward_order`.
        """
        index = node.index if isinstance(node, Node) else node
        if not isinstance(index, int) or not 0 <= index < len(self._nodes):
            fail(
                "graph",
                f"`node` must be a node, or an index below {len(self._nodes)}, got {node!r}",
                error=IndexError if isinstance(index, int) else TypeError,
            )
        if isinstance(node, Node) and node is not self._nodes[index]:
            fail("graph", f"`node` must be one of this graph's, got {node!r}", error=ValueError)
        return self._backward_of(self._chosen(inputs)).residuals.get(index, ())

    def to_dot(self) -> str:
        """The graph in Graphviz's language."""
        return dot(self._nodes, self._inputs, self._outputs)

    def to_graphviz(self) -> Any:
        """A `graphviz.Source`, which notebooks show; without the `graphviz` package, its source."""
        try:
            graphviz = importlib.import_module("graphviz")
        except ImportError:
            return self.to_dot()
        return graphviz.Source(self.to_dot())

    def __str__(self) -> str:
        return listing(self._nodes, self._inputs, self._outputs)

    def __repr__(self) -> str:
        return f"<graph of {len(self._nodes)} nodes>"

    def _backward_of(self, inputs: tuple[int, ...]) -> Backward:
        if inputs not in self._backward:
            self._backward[inputs] = backward_of(self._program, self._nodes, self._paths, inputs)
        return self._backward[inputs]

    def _chosen(self, inputs: Any) -> tuple[int, ...]:
        """The numbers of the inputs that `inputs` names."""
        active = [i for i, x in enumerate(self._program.in_avals) if differentiable(x)]
        if inputs is None:
            return tuple(active)
        found: dict[int, None] = {}
        for one in inputs if isinstance(inputs, tuple) else (inputs,):
            if isinstance(one, bool) or not isinstance(one, (int, str)):
                fail(
                    "graph",
                    f"`inputs` must be paths or positions of arguments, got {describe(one)}",
                    error=TypeError,
                )
            start = f"args[{one}]" if isinstance(one, int) else one
            meant = [i for i, path in enumerate(self._paths) if _begins(path, start)]
            if not meant:
                has = ", ".join(self._paths) or "none"
                message = f"`inputs` names {start!r}, which is no input; there are: {has}"
                fail("graph", message, error=ValueError)
            if not any(i in active for i in meant):
                fail(
                    "graph",
                    f"`{start}` has no derivative, it is {self._inputs[self._paths[meant[0]]]}",
                    hint="gradients are with respect to floating and complex arrays",
                    error=TypeError,
                )
            found.update((i, None) for i in meant if i in active)
        if not found:
            fail("graph", "`inputs` must not be empty", error=ValueError)
        return tuple(sorted(found))


def _begins(path: str, start: str) -> bool:
    return path == start or (path.startswith(start) and path[len(start)] in "[.")
