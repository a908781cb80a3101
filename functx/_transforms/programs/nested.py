"""Which equations run programs that can be visited, and how they are rebuilt around the visit.

Functions with own derivative rules stay whole: their rules know nothing of a visit.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
from jax import lax

from functx._core.jax_compat import JaxprEqn, scan_counts

from .walking import CALLS, CHECKPOINTS


# What runs one of the programs inside, `inside(program, operands, carry, each)`, and returns
# `(results, carry, found)`.
Inside: TypeAlias = Callable[[Any, Sequence[Any], Any, Any], tuple[Sequence[Any], Any, Any]]


def can_rebind(eqn: JaxprEqn) -> bool:
    """Whether `rebind` knows how to run the programs of the equation."""
    return eqn.primitive.name in _REBOUND


def rebind(
    eqn: JaxprEqn, operands: Sequence[Any], inside: Inside, carry: Any = (), each: Any = ()
) -> tuple[Sequence[Any], Any, Any]:
    """Runs the equation, each of its programs by `inside`: results, carry, and what is found.

    Two trees of arrays go along with the program's own values:

    - `carry`: goes from step to step of a loop, and comes back. What the condition of a
      `while_loop` makes of it is lost.
    - `each`: is handed in. Of a `scan` it has a leading axis for the steps, and so has what is
      found inside; a `while_loop` has neither.

    A `shard_map` takes neither `carry` nor `each`.
    """
    return _REBOUND[eqn.primitive.name](inside, eqn, operands, carry, each)


def _call(inside: Inside, eqn: JaxprEqn, operands: Sequence[Any], carry: Any, each: Any) -> Any:
    return inside(eqn.params["jaxpr"], operands, carry, each)


def _checkpoint(
    inside: Inside, eqn: JaxprEqn, operands: Sequence[Any], carry: Any, each: Any
) -> Any:
    function = ft.partial(inside, eqn.params["jaxpr"])
    options = {option: eqn.params[option] for option in ("policy", "prevent_cse")}
    return jax.checkpoint(function, **options)(operands, carry, each)


def _cond(inside: Inside, eqn: JaxprEqn, operands: Sequence[Any], carry: Any, each: Any) -> Any:
    def branch(program: Any, carry: Any, operands: Sequence[Any], each: Any) -> Any:
        return inside(program, operands, carry, each)

    branches = [ft.partial(branch, program) for program in eqn.params["branches"]]
    return lax.switch(operands[0], branches, carry, operands[1:], each)


def _scan(inside: Inside, eqn: JaxprEqn, operands: Sequence[Any], carry: Any, each: Any) -> Any:
    params, (consts, carries) = eqn.params, scan_counts(eqn.params)
    fixed, xs = operands[:consts], operands[consts + carries :]

    def body(state: Any, x: Any) -> Any:
        (carry, own), (each, x) = state, x
        results, carry, found = inside(params["jaxpr"], [*fixed, *own, *x], carry, each)
        return (carry, results[:carries]), (results[carries:], found)

    options = {option: params[option] for option in ("length", "reverse", "unroll")}
    start = carry, [*operands[consts:][:carries]]
    (carry, own), (ys, found) = lax.scan(body, start, (each, [*xs]), **options)
    return [*own, *ys], carry, found


def _while(inside: Inside, eqn: JaxprEqn, operands: Sequence[Any], carry: Any, each: Any) -> Any:
    in_condition, in_body = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    for_condition, for_body = operands[:in_condition], operands[in_condition:][:in_body]

    def body(state: tuple[Any, Sequence[Any]]) -> Any:
        results, carry, _ = inside(eqn.params["body_jaxpr"], [*for_body, *state[1]], state[0], each)
        return carry, results

    def going_on(state: tuple[Any, Sequence[Any]]) -> Any:
        values = [*for_condition, *state[1]]
        return inside(eqn.params["cond_jaxpr"], values, state[0], each)[0][0]

    start = carry, [*operands[in_condition + in_body :]]
    carry, results = lax.while_loop(going_on, body, start)
    return results, carry, ()


def _shard_map(
    inside: Inside, eqn: JaxprEqn, operands: Sequence[Any], carry: Any, each: Any
) -> Any:
    def function(*operands: Any) -> Any:
        return tuple(inside(eqn.params["jaxpr"], operands, carry, each)[0])

    params = eqn.params
    manual = params.get("newly_manual_axes") or params["manual_axes"]  # releases differ
    mapped = jax.shard_map(
        function,
        mesh=params["mesh"],
        in_specs=tuple(params["in_specs"]),
        out_specs=tuple(params["out_specs"]),
        axis_names=set(manual),
        check_vma=params["check_vma"],
    )
    return list(mapped(*operands)), carry, ()


_REBOUND: dict[str, Callable[..., tuple[Sequence[Any], Any, Any]]] = {
    **dict.fromkeys(CALLS, _call),
    **dict.fromkeys(CHECKPOINTS, _checkpoint),
    "cond": _cond,
    "scan": _scan,
    "while": _while,
    "shard_map": _shard_map,
}
