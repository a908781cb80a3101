"""Runs a recorded program and keeps, beside its results, where the first anomaly was.

All of it is traced: what is kept is a handful of integers that go through loops and branches along
with the program's own values.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax.numpy as jnp
from jax import Array, lax

from functx._core.jax_compat import ClosedJaxpr, Jaxpr, jaxpr_as_fun, JaxprEqn, Literal, scan_counts
from functx._transforms.programs.walking import inner_programs, opened
from functx._transforms.taps.replay import bind

from .judging import can_be_bad, FOUND, judge, nothing_found, Seen
from .lanes import lane_axes, lanes_of
from .sites import is_unit, Options, options_at, Place, Site, site_of


Steps: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Sequence[Any]


class Watch:
    """One program being watched: `sites` fills up as it is traced."""

    def __init__(self, program: ClosedJaxpr, options: Options) -> None:
        self.program, self.options = program, options
        self.depth = _loop_depth(program.jaxpr)
        self.sites: list[Site] = []

    def run(self, args: Values) -> tuple[list[Any], Array]:
        """The results of the program, and what was found on the way."""
        return self._run(self.program, args, nothing_found(self.depth), (), Place())

    def _run(
        self, program: Any, args: Values, found: Array, steps: Steps, place: Place
    ) -> tuple[list[Any], Array]:
        jaxpr, consts = opened(program)
        values = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args), strict=True))
        lanes = lane_axes(jaxpr)
        seen: list[Seen] = []

        def read(x: Any) -> Any:
            return x.val if isinstance(x, Literal) else values[x]

        def judged() -> Array:
            padded = (*steps, *found[len(FOUND) + len(steps) :])
            return judge(found, seen, values, padded) if seen else found

        for eqn in jaxpr.eqns:
            operands, here = [*map(read, eqn.invars)], place.of(eqn)
            enter = None if is_unit(eqn) else _ENTERED.get(eqn.primitive.name)
            if enter is not None:
                results, found = enter(self, eqn, operands, judged(), steps, here)
                seen.clear()
            else:
                results = bind(eqn, operands)
            values.update(zip(eqn.outvars, results, strict=True))
            options = options_at(here.stack, self.options)
            if enter is None and eqn.primitive is not lanes_of and any(options):
                if any(can_be_bad(x.aval) for x in eqn.outvars):
                    seen.append(Seen(eqn, len(self.sites), options))
                    self.sites.append(site_of(eqn, here, lanes))
        found = judged()
        return [*map(read, jaxpr.outvars)], found


def _jit(
    watch: Watch, eqn: JaxprEqn, operands: Values, found: Array, steps: Steps, place: Place
) -> tuple[Values, Array]:
    return watch._run(eqn.params["jaxpr"], operands, found, steps, place)


def _cond(
    watch: Watch, eqn: JaxprEqn, operands: Values, found: Array, steps: Steps, place: Place
) -> tuple[Values, Array]:
    def branch(program: Any, found: Array, operands: Values) -> tuple[Values, Array]:
        return watch._run(program, operands, found, steps, place)

    branches = [ft.partial(branch, program) for program in eqn.params["branches"]]
    return lax.switch(operands[0], branches, found, operands[1:])


def _scan(
    watch: Watch, eqn: JaxprEqn, operands: Values, found: Array, steps: Steps, place: Place
) -> tuple[Values, Array]:
    params, (consts, carries) = eqn.params, scan_counts(eqn.params)
    fixed, carry, xs = operands[:consts], operands[consts:][:carries], operands[consts + carries :]
    place = place._replace(loops=(*place.loops, "scan"))

    def body(state: Any, x: Any) -> Any:
        (found, carry), (i, x) = state, x
        values = [*fixed, *carry, *x]
        results, found = watch._run(params["jaxpr"], values, found, (*steps, i), place)
        return (found, results[:carries]), results[carries:]

    numbers = jnp.arange(params["length"], dtype="int32")
    options = {option: params[option] for option in ("length", "reverse", "unroll")}
    (found, carry), ys = lax.scan(body, (found, [*carry]), (numbers, [*xs]), **options)
    return [*carry, *ys], found


def _while(
    watch: Watch, eqn: JaxprEqn, operands: Values, found: Array, steps: Steps, place: Place
) -> tuple[Values, Array]:
    cond_count, body_count = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    for_cond, for_body = operands[:cond_count], operands[cond_count:][:body_count]
    place = place._replace(loops=(*place.loops, "while_loop"))
    condition = jaxpr_as_fun(eqn.params["cond_jaxpr"])

    def body(state: tuple[Any, Array, Values]) -> Any:
        i, found, carry = state
        inner = eqn.params["body_jaxpr"]
        results, found = watch._run(inner, [*for_body, *carry], found, (*steps, i), place)
        return i + 1, found, results

    def going_on(state: tuple[Any, Array, Values]) -> Any:
        return condition(*for_cond, *state[2])[0]

    start = jnp.int32(0), found, [*operands[cond_count + body_count :]]
    _, found, results = lax.while_loop(going_on, body, start)
    return results, found


_ENTERED: dict[str, Callable[..., tuple[Values, Array]]] = {
    "jit": _jit,
    "pjit": _jit,
    "checkpoint": _jit,
    "remat": _jit,
    "remat2": _jit,
    "cond": _cond,
    "scan": _scan,
    "while": _while,
}
_LOOPS = ("scan", "while")


def _loop_depth(jaxpr: Jaxpr) -> int:
    """How many loops, at most, run inside one another."""
    return max(
        (
            (eqn.primitive.name in _LOOPS) + max(map(_loop_depth, inner_programs(eqn)), default=0)
            for eqn in jaxpr.eqns
        ),
        default=0,
    )
