"""`aot_function`: a function whose passes are graphs, compiled when they are first needed."""

from __future__ import annotations

import dataclasses
import functools as ft
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from jax import core

from functx._aot.graphs.graph import Graph
from functx._aot.graphs.tracing import trace
from functx._aot.joint.joint import joint_of, JointGraph
from functx._aot.joint.partitions import GraphPartition, min_cut_partition
from functx._core import describe, fail
from functx._core.jax_compat import Literal as LiteralAtom
from functx._core.rules.tangent_types import inexact
from functx._transforms.arguments import require_bool, require_callable
from functx._transforms.functional_call import functional_call
from functx._transforms.functions.function import Function
from functx._transforms.programs.partition import array_paths, is_array, Partition, partition
from functx._transforms.programs.recording import output_of
from functx._transforms.programs.walking import opened

from .compilers import GraphCompiler, run_compiled, xla


__all__ = ["Compilation", "aot_function", "aot_module"]

Pass: TypeAlias = Literal["inference", "forward", "backward"]
PartitionFunction: TypeAlias = Callable[[JointGraph], GraphPartition]

# The argument that a pass is compiled by.
_COMPILERS: dict[Pass, str] = {
    "inference": "inference_compiler",
    "forward": "fw_compiler",
    "backward": "bw_compiler",
}


@dataclasses.dataclass(frozen=True)
class Compilation:
    """A graph that was compiled, and why.

    - `kind`: `"inference"`, of a call that nothing differentiates, `"forward"` or `"backward"`.
    - `graph`: what the compiler was given; `reason`: why it was compiled: that it was the first of
      its kind, or what differs from the last, such as ``args[0]: f32[3] -> f32[4]``.
    """

    kind: Pass
    graph: Graph
    reason: str

    def __str__(self) -> str:
        return f"{self.kind}, {len(self.graph.nodes)} nodes: {self.reason}"


def aot_function(
    func: Callable[..., Any],
    fw_compiler: GraphCompiler = xla,
    bw_compiler: GraphCompiler | None = None,
    partition_fn: PartitionFunction = min_cut_partition,
    inference_compiler: GraphCompiler | None = None,
    decompositions: Mapping[Any, Callable[..., Any] | None] | None = None,
    *,
    explain: bool = False,
) -> CompiledFunction:
    """`func`, run by what compilers make of its graphs, ahead of time.

    - `func`: a function of trees of arrays; other leaves are constants of the graphs.
    - `fw_compiler`: takes the `Graph` of the forward pass, returns a function of the graph's arrays
      that returns a sequence of arrays. NumPy's arrays will do.
    - `bw_compiler`: the same for the backward pass; by default `fw_compiler`.
    - `partition_fn`: divides the `JointGraph`: `functx.aot.min_cut_partition`,
      `functx.aot.default_partition`, or a function of your own.
    - `inference_compiler`: for calls that nothing differentiates; by default `fw_compiler`.
    - `decompositions`: as for `Graph.decompose`.
    - `explain`: whether each compilation is printed, with the reason for it.

    Nothing is compiled before it is needed: a call that is not differentiated needs one graph, the
    backward pass is compiled when it first runs. Arguments of other shapes, dtypes, trees or
    constants make new graphs. The result is transformed like `func`, in both modes and to any
    order: `grad` runs the compiled passes; under `jit`, `vmap` and for higher derivatives the
    graphs themselves run, since a compiled program cannot be transformed.

    The result has `compilations`, a tuple of `Compilation`s, and `last_partition`.

    Errors: TypeError for a compiler that is none, or one whose function returns other shapes or
    dtypes; those that `func` raises while it is recorded.

    >>> sizes = []
    >>> def counting(graph):
    ...     sizes.append(len(graph.nodes))
    ...     return functx.aot.xla(graph)
    >>> f = functx.aot.aot_function(lambda x: functx.sum(functx.sin(x)), counting)
    >>> f(jnp.zeros(3, "float32"))
    Array(0., dtype=float32)
    >>> functx.grad(f)(jnp.zeros(3, "float32"))
    Array([1., 1., 1.], dtype=float32)
    >>> [compilation.kind for compilation in f.compilations]
    ['inference', 'forward', 'backward']
    """
    return _compiled_function(
        "aot_function",
        func,
        fw_compiler,
        bw_compiler,
        partition_fn,
        inference_compiler,
        decompositions,
        explain,
    )


def aot_module(
    module: Callable[..., Any],
    fw_compiler: GraphCompiler = xla,
    bw_compiler: GraphCompiler | None = None,
    partition_fn: PartitionFunction = min_cut_partition,
    inference_compiler: GraphCompiler | None = None,
    decompositions: Mapping[Any, Callable[..., Any] | None] | None = None,
    *,
    explain: bool = False,
) -> CompiledFunction:
    """`functional_call` of `module`, run by what compilers make of its graphs.

    - `module`: a callable pytree, or a function of parameters and arguments, as for
      `functx.functional_call`.
    - `fw_compiler`, `bw_compiler`, `partition_fn`, `inference_compiler`, `decompositions`,
      `explain`: as for `aot_function`.

    The result takes a dict of parameters and buffers, then the arguments of the module.

    Errors: those of `aot_function` and of `functx.functional_call`.

    >>> def linear(parameters, x):
    ...     return functx.sum(parameters["w"] * x)
    >>> f = functx.aot.aot_module(linear)
    >>> functx.grad(f)({"w": jnp.ones(2, "float32")}, jnp.asarray([3.0, 4.0], "float32"))
    {'w': Array([3., 4.], dtype=float32)}
    """

    require_callable("aot_module", module)

    def call(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        return functional_call(module, parameters, args, kwargs)

    return _compiled_function(
        "aot_module",
        call,
        fw_compiler,
        bw_compiler,
        partition_fn,
        inference_compiler,
        decompositions,
        explain,
    )


def _compiled_function(
    who: str,
    func: Callable[..., Any],
    fw_compiler: GraphCompiler,
    bw_compiler: GraphCompiler | None,
    partition_fn: PartitionFunction,
    inference_compiler: GraphCompiler | None,
    decompositions: Mapping[Any, Callable[..., Any] | None] | None,
    explain: bool,
) -> CompiledFunction:
    require_callable(who, func)
    require_bool(who, "explain", explain)
    compilers: dict[Pass, GraphCompiler] = {
        "inference": fw_compiler if inference_compiler is None else inference_compiler,
        "forward": fw_compiler,
        "backward": fw_compiler if bw_compiler is None else bw_compiler,
    }
    given_by_name = {
        "fw_compiler": fw_compiler,
        **{_COMPILERS[kind]: compiler for kind, compiler in compilers.items()},
        "partition_fn": partition_fn,
    }
    for name, given in given_by_name.items():
        if not callable(given):
            message = f"`{name}` must be callable, got {describe(given)}"
            fail(who, message, error=TypeError)
    return CompiledFunction(who, func, compilers, partition_fn, decompositions, explain)


class CompiledFunction:
    """What `aot_function` and `aot_module` return: called and transformed like the function.

    - `compilations`: what was compiled so far, in order, each a `Compilation`.
    - `last_partition`: the `GraphPartition` that was made last, or None.
    """

    def __init__(
        self,
        who: str,
        func: Callable[..., Any],
        compilers: Mapping[Pass, GraphCompiler],
        partition_fn: PartitionFunction,
        decompositions: Any,
        explain: bool,
    ) -> None:
        self.who, self._func, self._compilers = who, func, compilers
        self._partition_fn, self._decompositions = partition_fn, decompositions
        self._explain = explain
        self._last: dict[Pass, Mapping[str, str]] = {}  # the types at the last of each kind
        self._calls: dict[Any, TracedCall] = {}
        self.compilations: tuple[Compilation, ...] = ()
        self.last_partition: GraphPartition | None = None
        ft.update_wrapper(self, func, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns."""
        given = partition((args, kwargs), is_array)
        key = _key(given)
        if key not in self._calls:
            graph = trace(self._func, *args, decompositions=self._decompositions, **kwargs)
            self._calls[key] = TracedCall(self, graph, _types(given))
        call = self._calls[key]
        results = _Passes.apply(call, *given.arrays)
        return output_of(call.graph.signature.outputs, results)

    def compile(self, kind: Pass, graph: Graph, types: Mapping[str, str]) -> Callable[..., Any]:
        """Compiles a graph for arguments of these types, and notes why."""
        compilation = Compilation(kind, graph, self._reason(kind, types))
        self.compilations += (compilation,)
        if self._explain:
            name = getattr(self, "__name__", "function")
            print(f"{name}: {compilation}")  # noqa: T201 (it was asked for)
        compiled = self._compilers[kind](graph)
        if not callable(compiled):
            message = f"the compiler of the {kind} pass must return a function, got "
            fail(self.who, message + describe(compiled), error=TypeError)
        self._last[kind] = types
        return compiled

    def _reason(self, kind: Pass, types: Mapping[str, str]) -> str:
        before = self._last.get(kind)
        if before is None:
            return "the first"
        changes = [
            f"{path}: {before.get(path, 'nothing')} -> {types.get(path, 'nothing')}"
            for path in dict.fromkeys((*before, *types))
            if before.get(path) != types.get(path)
        ]
        return ", ".join(changes) or "other inputs are differentiated"

    def divide(self, joint: JointGraph) -> GraphPartition:
        """The partition of a joint graph."""
        found = self._partition_fn(joint)
        if not isinstance(found, GraphPartition):
            message = f"`partition_fn` must return a partition, got {describe(found)}"
            fail(self.who, message, error=TypeError)
        self.last_partition = found
        return found


class TracedCall:
    """A function at arguments of some types: its graphs, and what was compiled of them."""

    def __init__(self, owner: CompiledFunction, graph: Graph, types: Mapping[str, str]) -> None:
        self.owner, self.graph, self.types = owner, graph, types
        self._partitions: dict[tuple[int, ...], GraphPartition] = {}
        self._compiled: dict[Any, Callable[..., Any]] = {}
        self._flat = graph.over_arrays()

    def infer(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs, of a call that nothing differentiates."""
        return self._run("inference", (), self._flat, arrays)

    def forward(self, active: tuple[int, ...], arrays: Sequence[Any]) -> list[Any]:
        """The outputs, and what is saved for gradients of the inputs with these numbers."""
        graph = self.partition(active).forward
        results = self._run("forward", active, graph, arrays)
        # A compiled program copies what it hands on. The same array is told from a new one by its
        # identity, and is saved once.
        jaxpr, _ = opened(graph.program)
        same = dict(zip(jaxpr.invars, arrays, strict=True))
        pairs = zip(jaxpr.outvars, results, strict=True)
        return [y if isinstance(x, LiteralAtom) else same.setdefault(x, y) for x, y in pairs]

    def backward(self, active: tuple[int, ...], arrays: Sequence[Any]) -> list[Any]:
        """The gradients, from what is saved and the cotangents."""
        return self._run("backward", active, self.partition(active).backward, arrays)

    def partition(self, active: tuple[int, ...]) -> GraphPartition:
        """The two halves of the joint graph with gradients of these inputs."""
        if active not in self._partitions:
            self._partitions[active] = self.owner.divide(joint_of(self.graph, active))
        return self._partitions[active]

    def _run(
        self, kind: Pass, active: tuple[int, ...], graph: Graph, arrays: Sequence[Any]
    ) -> list[Any]:
        if any(isinstance(x, core.Tracer) for x in arrays):
            return list(graph(*arrays))  # a compiled program cannot be transformed
        if (kind, active) not in self._compiled:
            self._compiled[kind, active] = self.owner.compile(kind, graph, self.types)
        compiled = self._compiled[kind, active]
        return run_compiled(self.owner.who, _COMPILERS[kind], compiled, graph, arrays)


class _Passes(Function):
    """The passes of a traced call as a function with derivatives of its own."""

    @staticmethod
    def forward(ctx: Any, call: TracedCall, *arrays: Any) -> tuple[Any, ...]:
        active = tuple(
            i for i, needed in enumerate(ctx.needs_input_grad[1:]) if needed and inexact(arrays[i])
        )
        if not active or not any(map(inexact, call.graph.result_types)):
            return tuple(call.infer(arrays))
        results = call.forward(active, arrays)
        count = len(call.graph.result_types)
        ctx.call, ctx.active, ctx.inputs = call, active, len(arrays)
        ctx.save_for_backward(*results[count:])
        return tuple(results[:count])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        moves = ctx.call.partition(ctx.active).joint.moves
        given = [*ctx.saved_tensors, *(cotangents[i] for i in moves)]
        gradients = dict(zip(ctx.active, ctx.call.backward(ctx.active, given), strict=True))
        return (None, *(gradients.get(i) for i in range(ctx.inputs)))


def _key(given: Partition) -> Any:
    """What a call's graphs depend on: tree, types and constants."""
    constants = tuple(x if _hashable(x) else id(x) for x in given.rest)
    kinds = tuple(type(x) for x in given.rest)
    return given.structure, constants, kinds, tuple((x.shape, x.dtype) for x in given.arrays)


def _hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def _types(given: Partition) -> dict[str, str]:
    """The types of the arrays in a call by path, and its tree and constants, to compare calls."""
    arrays = dict(zip(array_paths(given), map(describe, given.arrays), strict=True))
    constants = map(describe, given.others)
    return arrays | {"the tree": str(given.structure), "the constants": ", ".join(constants)}
