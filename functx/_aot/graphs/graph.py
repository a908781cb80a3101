"""`Graph`: what a function computes and what its derivative will do, before anything runs."""

from __future__ import annotations

import functools as ft
import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from functx._core import describe, fail
from functx._core.jax_compat import ClosedJaxpr, jaxpr_as_fun
from functx._transforms.programs.recording import HoldsProgram, output_of
from functx._transforms.programs.walking import opened

from .backward import Backward, backward_of, differentiable, Residual, Step
from .changing import changed, decomposed, NodeChange, pruned
from .code import GraphCode, python_of
from .comparing import difference, GraphDifference
from .cost import Cost, cost_of
from .drawing import dot, listing
from .matching import replaced
from .needed import nodes_between
from .nodes import Edge, Node, nodes_of, ProgramNodes
from .signature import flat_signature, GraphSignature, spec_of


__all__ = ["Graph"]


class Graph(HoldsProgram):
    """What a function computes, step by step, and what its derivative goes through.

    It is called like the function that it was traced from, with arrays of the same shapes and
    dtypes, and transformed like it. `str` of it is a table. Everything is read-only: methods that
    change a graph return a new one.

    - `nodes`: the steps in the order in which they run, each a `Node`. PyTorch runs backward nodes
      by sequence number, the highest first; here XLA decides, and the number is the index.
    - `inputs`, `outputs`: the types of the inputs by path, `"args[0]['w']"`, and an `Edge` for
      each output, or None for a constant.
    - `constants`: the arrays that the function closed over.
    - `counts`: how many nodes there are, by name; `effects`: what the graph does besides, such as
      printing, as strings.
    - `program`, `signature`: what functx records of it, for its own use.
    """

    made_by, remedy = (
        "trace",
        "`functx.aot.export` and `functx.aot.save` write the program to a file",
    )

    def __init__(
        self,
        program: ClosedJaxpr,
        signature: GraphSignature,
        again: Callable[[Sequence[Any]], Graph],
    ) -> None:
        """A graph of `program`; `again` makes the graph at other arrays, of other sizes."""
        self.program, self.signature, self._again = program, signature, again
        self._paths = signature.input_paths
        self._backward: dict[tuple[int, ...], Backward] = {}
        self._at_sizes: dict[Any, Graph] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns for these arguments.

        Errors: TypeError for a tree, a shape, a dtype or a constant other than the traced one.
        """
        arrays = self.signature.arrays_of(args, kwargs)
        graph = self.at(arrays) if self.signature.is_symbolic else self
        results = jaxpr_as_fun(graph.program)(*arrays)
        return output_of(graph.signature.outputs, results)

    def at(self, arrays: Sequence[Any]) -> Graph:
        """The graph at the sizes of these arrays, in the place of symbolic ones."""
        types = tuple((x.shape, x.dtype) for x in arrays)
        if types not in self._at_sizes:
            self._at_sizes[types] = self._again(arrays)
        return self._at_sizes[types]

    @ft.cached_property
    def _found(self) -> ProgramNodes:
        """The nodes, which take longer to make than the program, and are not always asked for."""
        return nodes_of(opened(self.program)[0], self._paths)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The steps, in the order in which they run."""
        return self._found.nodes

    @property
    def inputs(self) -> Mapping[str, str]:
        """The types of the inputs, by path."""
        types = map(describe, self.program.in_avals)
        return MappingProxyType(dict(zip(self._paths, types, strict=True)))

    @property
    def outputs(self) -> Mapping[str, Edge | None]:
        """Where the outputs come from, by path; None for a constant."""
        pairs = zip(self.signature.output_paths, self._found.outputs, strict=True)
        return MappingProxyType(dict(pairs))

    @property
    def specs(self) -> tuple[Any, ...]:
        """The shapes and dtypes of the arrays of the inputs, as `jax.ShapeDtypeStruct`s."""
        return tuple(self.signature.given.arrays)

    @property
    def result_types(self) -> tuple[Any, ...]:
        """The shapes and dtypes of the arrays of the outputs, as `jax.ShapeDtypeStruct`s."""
        return tuple(map(spec_of, self.program.out_avals))

    def over_arrays(self) -> Graph:
        """The graph as one of arrays: it takes them one by one, and returns a tuple."""
        signature = flat_signature(self.program, self._paths, self.signature.output_paths)
        return Graph(self.program, signature, lambda arrays: self.at(arrays).over_arrays())

    @property
    def constants(self) -> tuple[Any, ...]:
        """The arrays that the function closed over."""
        return tuple(opened(self.program)[1])

    @property
    def counts(self) -> Counter[str]:
        """How many nodes there are, by name; those inside of loops and branches count once each."""
        return Counter(node.name for node in self._every_node())

    @property
    def effects(self) -> tuple[str, ...]:
        """What the graph does besides computing its outputs, such as printing."""
        return tuple(sorted(map(str, opened(self.program)[0].effects)))

    @property
    def code(self) -> GraphCode:
        """The graph as Python source, which runs.

        `str` of it is the text; `code.function()` is what it defines, a function of the inputs'
        arrays that returns a list of the outputs'.
        """
        return python_of(self.program, self._paths)

    def cost(self) -> Cost:
        """The operations and the bytes of each node, and how many bytes are alive at once."""
        return cost_of(self.program, self.nodes)

    def dce(self) -> Graph:
        """The graph without what no output needs."""
        return self._derived(lambda graph: pruned(graph.program))

    def decompose(self, table: Mapping[Any, Callable[..., Any] | None] | Iterable[Any]) -> Graph:
        """The graph with other functions in the place of some nodes.

        - `table`: functions by what they replace: the name of an operator or primitive as in
          `nodes`, an operator of functx, or a primitive of JAX. The function of an operator takes
          its arrays; that of a primitive takes its operands, and its parameters by keyword. None
          in the place of a function opens an operator into the equations that it runs. A list of
          names opens each of them.

        What is inside of loops and branches is decomposed, too. Errors: KeyError for an entry that
        replaces nothing, TypeError for a function that returns other shapes or dtypes.
        """
        return self._derived(lambda graph: decomposed(graph.program, table))

    def rewrite(self, change: NodeChange) -> Graph:
        """The graph with some nodes changed.

        - `change(node, *operands)`: is called with each `Node` and arrays; it returns an array, or
          a sequence of arrays for a node that has several outputs, in the place of the node's own,
          or None, which keeps the node. It may compute with operators.

        Errors: TypeError for results of other shapes or dtypes than the node's.
        """
        return self._derived(lambda graph: changed(graph.program, graph.nodes, change))

    def replace(
        self, pattern: Callable[..., Any], replacement: Callable[..., Any], *specs: Any
    ) -> Graph:
        """The graph with a computation replaced wherever it stands.

        - `pattern`: a function of arrays that computes one array; wherever the graph computes the
          same by the same steps, and nothing else needs what is between, it is replaced.
        - `replacement`: a function of the same arrays.
        - `specs`: arrays or `jax.ShapeDtypeStruct`s, an example of each; where the graph has other
          sizes, the pattern is recorded again.

        Errors: TypeError for a replacement that returns another shape or dtype.
        """
        return self._derived(lambda graph: replaced(graph.program, pattern, replacement, specs))

    def difference(self, other: Graph) -> GraphDifference:
        """What has to change to make `other` of this graph: falsy if they compute the same steps.

        Names of variables, lines of code and the order of independent nodes do not count.

        - `other`: a graph.
        """
        if not isinstance(other, Graph):
            message = f"`other` must be a graph, got {describe(other)}"
            fail("graph.difference", message, error=TypeError)
        return difference(self.program, other.program)

    def _derived(self, change: Callable[[Graph], ClosedJaxpr]) -> Graph:
        again = lambda arrays: self._again(arrays)._derived(change)
        return Graph(change(self), self.signature, again)

    def _every_node(self) -> Iterable[Node]:
        stack = list(reversed(self.nodes))
        while stack:
            node = stack.pop()
            yield node
            stack += [inner for program in node.programs for inner in reversed(program)]

    def needed_for(self, inputs: str | int | tuple[str | int, ...]) -> tuple[Node, ...]:
        """The nodes whose backward runs for the gradient with respect to `inputs`.

        - `inputs`: the path of an input, or how it begins: `"args[0]"` are all arrays in the first
          argument, and so is 0. A tuple means all of them together.

        What is decided is dependence: a node counts if it depends on one of the inputs and a
        floating output on it, through values that have derivatives. Errors: ValueError for a path
        that is none, TypeError for inputs that have no derivatives.
        """
        return tuple(self.nodes[i] for i in nodes_between(self.program, self._chosen(inputs)))

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
        if not isinstance(index, int) or not 0 <= index < len(self.nodes):
            fail(
                "graph",
                f"`node` must be a node, or an index below {len(self.nodes)}, got {node!r}",
                error=IndexError if isinstance(index, int) else TypeError,
            )
        if isinstance(node, Node) and node is not self.nodes[index]:
            fail("graph", f"`node` must be one of this graph's, got {node!r}", error=ValueError)
        return self._backward_of(self._chosen(inputs)).residuals.get(index, ())

    def to_dot(self) -> str:
        """The graph in Graphviz's language."""
        return dot(self.nodes, self.inputs, self.outputs)

    def to_graphviz(self) -> Any:
        """A `graphviz.Source`, which notebooks show; without the `graphviz` package, its source."""
        try:
            graphviz = importlib.import_module("graphviz")
        except ImportError:
            return self.to_dot()
        return graphviz.Source(self.to_dot())

    def __str__(self) -> str:
        return listing(self.nodes, self.inputs, self.outputs)

    def __repr__(self) -> str:
        return f"<graph of {len(self.nodes)} nodes>"

    def _backward_of(self, inputs: tuple[int, ...]) -> Backward:
        if inputs not in self._backward:
            self._backward[inputs] = backward_of(self.program, self.nodes, self._paths, inputs)
        return self._backward[inputs]

    def _chosen(self, inputs: Any) -> tuple[int, ...]:
        """The numbers of the inputs that `inputs` names."""
        active = [i for i, x in enumerate(self.program.in_avals) if differentiable(x)]
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
                    f"`{start}` has no derivative, it is {self.inputs[self._paths[meant[0]]]}",
                    hint="gradients are with respect to floating and complex arrays",
                    error=TypeError,
                )
            found.update((i, None) for i in meant if i in active)
        if not found:
            fail("graph", "`inputs` must not be empty", error=ValueError)
        return tuple(sorted(found))


def _begins(path: str, start: str) -> bool:
    return path == start or (path.startswith(start) and path[len(start)] in "[.")
