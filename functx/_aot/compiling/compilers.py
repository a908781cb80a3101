"""Compilers of graphs: functions from a graph to what runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

from functx._aot.graphs.graph import Graph
from functx._core import describe, fail


__all__ = ["GraphCompiler", "interpret_graph", "xla"]

# Takes a graph of arrays; returns a function of the same arrays that returns a sequence of them.
GraphCompiler: TypeAlias = Callable[[Graph], Callable[..., Sequence[Any]]]


def xla(graph: Graph) -> Callable[..., Sequence[Any]]:
    """A compiler for `functx.aot.aot_function`: XLA's program of the graph, compiled at once.

    - `graph`: the graph of a forward or a backward pass.

    Returns a function of the graph's arrays. Errors: those of XLA.
    """
    return jax.jit(graph).lower(*graph.specs).compile()


def interpret_graph(graph: Graph) -> Callable[..., Sequence[Any]]:
    """A compiler for `functx.aot.aot_function` that compiles nothing: node runs after node.

    - `graph`: the graph of a forward or a backward pass.

    Returns the graph itself. It is slow, and shows where an error comes from.
    """
    return graph


def run_compiled(
    who: str,
    name: str,
    compiled: Callable[..., Sequence[Any]],
    graph: Graph,
    arrays: Sequence[Any],
) -> list[Any]:
    """What `compiled` computes, which must be of the graph's shapes and dtypes.

    `who` was given the compiler as its argument `name`.
    """
    results = compiled(*arrays)
    if not isinstance(results, (tuple, list)):
        message = f"what `{name}` returns must give a sequence of arrays, got {describe(results)}"
        fail(who, message, error=TypeError)
    found = [np.asarray(x) if not isinstance(x, jax.Array) else x for x in results]
    got, want = [describe(x) for x in found], list(map(describe, graph.result_types))
    if got != want:
        message = f"what `{name}` returns must give {', '.join(want)}, got {', '.join(got)}"
        fail(who, message, error=TypeError)
    return [jax.numpy.asarray(x) for x in found]
