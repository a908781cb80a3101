"""Which nodes of a program a gradient goes through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from functx._core.jax_compat import ClosedJaxpr, JaxprEqn, Literal
from functx._transforms.programs.dependence import depending_outputs
from functx._transforms.programs.interpreting import bind

from .backward import differentiable, node_of, tagged


def nodes_between(program: ClosedJaxpr, inputs: Sequence[int]) -> list[int]:
    """The nodes that a gradient of the outputs with respect to `inputs` goes through, in order."""
    flat = jax.make_jaxpr(lambda *xs: tagged(program)(xs))(*program.in_avals).jaxpr
    active: set[Any] = {flat.invars[i] for i in inputs}
    links: list[dict[Any, set[Any]]] = []
    for eqn in flat.eqns:
        links.append(_links(eqn, [x for x in eqn.invars if not isinstance(x, Literal)], active))
        active.update(*links[-1].values())
    wanted = {x for x in flat.outvars if not isinstance(x, Literal)}
    needed: list[int] = []
    for eqn, link in zip(reversed(flat.eqns), reversed(links), strict=True):
        reached = {x for x, outputs in link.items() if outputs & wanted}
        node = node_of(eqn)
        if reached and node is not None:
            needed.append(node)
        wanted |= reached
    return sorted(set(needed))


def _links(eqn: JaxprEqn, variables: Sequence[Any], active: set[Any]) -> dict[Any, set[Any]]:
    """For each active variable, the results of `eqn` whose derivative by it is not zero."""
    active_here = [x for x in dict.fromkeys(variables) if x in active]
    outputs = [x for x in eqn.outvars if differentiable(x.aval)]
    if not active_here or not outputs:
        return {}

    def tangents(values: list[Any], directions: list[Any]) -> list[Any]:
        given = dict(zip(dict.fromkeys(variables), values, strict=True))

        def at(*moved: Any) -> list[Any]:
            known = given | dict(zip(active_here, moved, strict=True))
            operands = [x.val if isinstance(x, Literal) else known[x] for x in eqn.invars]
            results = dict(zip(eqn.outvars, bind(eqn, operands), strict=True))
            return [results[x] for x in outputs]

        return jax.jvp(at, [given[x] for x in active_here], directions)[1]

    types = [x.aval for x in dict.fromkeys(variables)]
    jaxpr = jax.make_jaxpr(tangents)(types, [x.aval for x in active_here]).jaxpr
    links: dict[Any, set[Any]] = {}
    for i, x in enumerate(active_here):
        marks = [j == len(types) + i for j in range(len(jaxpr.invars))]
        depends = depending_outputs(jaxpr, marks)
        links[x] = {y for y, hit in zip(outputs, depends, strict=True) if hit}
    return links
