"""`trace`: a function as a `Graph`, recorded at arguments, or at their shapes and dtypes alone."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Mapping
from typing import Any, get_args, Literal, TypeAlias

import jax

from functx._core import fail
from functx._core.numbers.weak_types import strong_tree
from functx._transforms.arguments import require_callable
from functx._transforms.concretization import tracing
from functx._transforms.outputs import path_of_output
from functx._transforms.programs.inlining import inlined, is_plain_call
from functx._transforms.programs.partition import array_paths, is_array, partition

from .graph import Graph
from .nodes import is_opened
from .signature import GraphSignature, is_spec, spec_of


__all__ = ["make_graph", "trace"]

Level: TypeAlias = Literal["operator", "primitive"]


def trace(
    func: Callable[..., Any],
    *specs: Any,
    level: Level = "operator",
    decompositions: Mapping[Any, Callable[..., Any] | None] | None = None,
    **keyword_specs: Any,
) -> Graph:
    """The `Graph` of `func` at arguments like `specs`: what it computes, step by step.

    - `func`: a function of trees of arrays. It is recorded as by `jax.jit`, so it may not ask for
      the value of an array. It may be a transform: `functx.grad(loss)`.
    - `specs`, `keyword_specs`: the arguments. Each leaf is an array, or a `jax.ShapeDtypeStruct`,
      whose sizes may be symbolic (`jax.export.symbolic_shape("b, 20")`); any other leaf, such as a
      Python number, is a constant of the graph.
    - `level`: `"operator"` keeps operators of functx, functions of `jax.numpy` and functions with
      own rules whole; `"primitive"` opens the first two into JAX's primitives. Functions that
      `func` calls, compiled ones too, are opened at either level. Loops and branches are nodes with
      graphs inside.
    - `decompositions`: as for `Graph.decompose`.

    Nothing is computed. The graph is called like `func`, and transformed like it.

    Errors: TypeError for a level or a `func` of a wrong type, ValueError for an unknown level,
    those that `func` raises, and JAX's ConcretizationTypeError where it asks for a value.

    >>> graph = functx.aot.trace(lambda x: functx.sum(functx.exp(x) * 2.0), jnp.ones(3, "float32"))
    >>> graph.nodes
    (<operator 0: exp>, <primitive 1: mul>, <operator 2: sum>)
    >>> graph(jnp.zeros(3, "float32"))
    Array(6., dtype=float32)
    >>> functx.grad(graph)(jnp.zeros(3, "float32"))
    Array([2., 2., 2.], dtype=float32)
    """
    require_callable("trace", func)
    if level not in get_args(Level):
        kind = ValueError if isinstance(level, str) else TypeError
        message = f"`level` must be 'operator' or 'primitive', got {level!r}"
        fail("trace", message, error=kind)
    graph = _recorded("trace", func, level, specs, keyword_specs)
    return graph if decompositions is None else graph.decompose(decompositions)


def make_graph(func: Callable[..., Any]) -> Callable[..., Graph]:
    """A function from arguments to the `Graph` of `func` at these arguments; nothing is run.

    - `func`: a function of trees of arrays. It is recorded as by `jax.jit`, so it may not ask for
      the value of an array.

    The returned function takes the arguments of `func`, of any shapes and dtypes, and returns
    `functx.aot.trace(func, ...)` of them.

    Errors: those that `func` raises while it is recorded, such as JAX's ConcretizationTypeError
    where Python asks for the value of an array.

    >>> f = lambda x, y: functx.sum(functx.exp(x) * y)
    >>> g = functx.autograd.graph.make_graph(f)(jnp.ones(3, "float32"), jnp.ones(3, "float32"))
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
        return _recorded("make_graph", func, "operator", args, kwargs)

    return at


def _recorded(
    who: str, func: Callable[..., Any], level: Level, args: Any, kwargs: Mapping[str, Any]
) -> Graph:
    given = partition((args, dict(kwargs)), lambda x: is_array(x) or is_spec(x))
    signatures: list[GraphSignature] = []

    def over_arrays(*arrays: Any) -> list[Any]:
        args, kwargs = given.whole(arrays)
        output = strong_tree(tracing(who, func, *args, **kwargs))
        returned = partition(output)
        leaves = jax.tree_util.tree_leaves_with_path(output)
        paths = tuple(path_of_output(path) for path, x in leaves if partition(x).arrays)
        types = given._replace(arrays=[spec_of(x) for x in given.arrays])
        outputs = returned._replace(arrays=[])
        signatures[:] = [GraphSignature(types, outputs, array_paths(given), paths)]
        return returned.arrays

    program = jax.make_jaxpr(over_arrays)(*given.arrays)
    opens = is_plain_call if level == "primitive" else is_opened
    again = ft.partial(_again, who, func, level, given)
    return Graph(inlined(program, opens), signatures[0], again)


def _again(who: str, func: Callable[..., Any], level: Level, given: Any, arrays: Any) -> Graph:
    """The graph at other arrays, in the place of specs with symbolic sizes."""
    args, kwargs = given.whole(arrays)
    return _recorded(who, func, level, args, kwargs)
