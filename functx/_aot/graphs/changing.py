"""Graphs changed: pruned, decomposed, rewritten node by node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import jax
from jax.interpreters.partial_eval import dce_jaxpr

from functx._core import describe, fail, near_names
from functx._core.jax_compat import ClosedJaxpr, JaxprEqn
from functx._transforms.programs.inlining import closed, Splice, spliced
from functx._transforms.programs.labels import title_of
from functx._transforms.programs.walking import CALLS, opened, own_programs

from .nodes import holds_programs, Node


NodeChange: TypeAlias = Callable[..., Any]


def pruned(program: ClosedJaxpr) -> ClosedJaxpr:
    """`program` without the equations that no output needs, and without constants for them."""
    jaxpr, consts = opened(program)
    whole = jaxpr.replace(invars=[*jaxpr.constvars, *jaxpr.invars], constvars=[])
    keep = [False] * len(jaxpr.constvars) + [True] * len(jaxpr.invars)
    left, read = dce_jaxpr(whole, [True] * len(jaxpr.outvars), instantiate=keep)
    values = [x for x, used in zip(consts, read, strict=False) if used]
    count = len(values)
    return closed(left.replace(constvars=left.invars[:count], invars=left.invars[count:]), values)


def decomposed(
    program: ClosedJaxpr, table: Mapping[Any, Callable[..., Any] | None] | Iterable[Any]
) -> ClosedJaxpr:
    """`program` with functions in the place of the operators and primitives that `table` names."""
    entries = dict(table) if isinstance(table, Mapping) else dict.fromkeys(table)
    rules = {_name_of(key): rule for key, rule in entries.items()}
    found: dict[str, None] = {}
    opened_names: set[str] = set()

    def replace(eqn: JaxprEqn) -> Splice | None:
        names = (title_of(eqn), eqn.primitive.name)
        found.update(dict.fromkeys(names))
        name = next((x for x in names if x in rules), None)
        if name is None:
            return None
        rule = rules[name]
        if rule is None:
            body = _body_of(eqn)
            if body is not None:
                opened_names.add(name)
                return Splice(body, True)
            if name in opened_names:  # a primitive of the same name, inside of it
                return None
            fail(
                "decompose",
                f"{name!r} runs no equations that could take its place",
                hint="give a function for it instead of None",
                error=ValueError,
            )
        params = {} if eqn.primitive.name in CALLS else eqn.params
        return Splice(_recorded("decompose", eqn, lambda *xs: rule(*xs, **params)))

    result = spliced(program, replace, inside=holds_programs)
    missing = next((name for name in rules if name not in found), None)
    if missing is not None:
        ends = [name for name in found if name.endswith(f".{missing}")]
        names = ends or near_names(missing, found)
        hint = f"did you mean {' or '.join(map(repr, names))}?" if names else "see `counts`"
        fail("decompose", f"the graph has no {missing!r}", hint=hint, error=KeyError)
    return result


def _name_of(key: Any) -> str:
    name = key if isinstance(key, str) else getattr(getattr(key, "spec", key), "name", None)
    if not isinstance(name, str):
        message = f"`table` must have names, operators or primitives as keys, got {describe(key)}"
        fail("decompose", message, error=TypeError)
    return name


def _body_of(eqn: JaxprEqn) -> Any:
    """The equations that an operator, or a function with own rules, runs, or None."""
    for own in own_programs(eqn):
        return own
    if eqn.primitive.name not in (*CALLS, "custom_jvp_call", "custom_vjp_call"):
        return None
    return eqn.params.get("jaxpr") or eqn.params.get("call_jaxpr")


def changed(program: ClosedJaxpr, nodes: Sequence[Node], change: NodeChange) -> ClosedJaxpr:
    """`program` with the results of `change` in the place of those of some nodes."""
    if not callable(change):
        fail("rewrite", f"`change` must be callable, got {describe(change)}", error=TypeError)
    following = iter(nodes)

    def replace(eqn: JaxprEqn) -> Splice | None:
        node = next(following)
        kept: list[bool] = []

        def run(*operands: Any) -> list[Any]:
            results = change(node, *operands)
            kept[:] = [results is None]
            return [] if results is None else _fitting("rewrite", eqn, results)

        program = jax.make_jaxpr(run)(*(x.aval for x in eqn.invars))
        return None if kept[0] else Splice(program)

    return spliced(program, replace)


def _recorded(who: str, eqn: JaxprEqn, rule: Callable[..., Any]) -> ClosedJaxpr:
    """The program of a function that takes the place of an equation."""

    run = lambda *operands: _fitting(who, eqn, rule(*operands))
    return jax.make_jaxpr(run)(*(x.aval for x in eqn.invars))


def _fitting(who: str, eqn: JaxprEqn, results: Any) -> list[Any]:
    """The results of what takes the place of an equation, which must be of its types."""
    found = list(results) if isinstance(results, (tuple, list)) else [results]
    require_types(who, title_of(eqn), found, [x.aval for x in eqn.outvars])
    return found


def require_types(who: str, name: str, results: Sequence[Any], types: Sequence[Any]) -> None:
    """Refuses results of other shapes or dtypes than those of what they replace."""
    got, want = [describe(x) for x in results], [describe(x) for x in types]
    if got != want:
        message = f"what replaces {name!r} must return {', '.join(want)}, got {', '.join(got)}"
        fail(who, message, error=TypeError)
