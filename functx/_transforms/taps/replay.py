"""Runs a recorded program equation by equation, doing more at those that are asked for.

Programs inside are entered where something in them is asked for: what `jit` compiles, and, rebuilt
around the new steps, `scan`, `cond` and `checkpoint`. Others run as they are.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import jax
from jax import Array, lax

from functx._core.jax_compat import ClosedJaxpr, Jaxpr, jaxpr_as_fun, JaxprEqn, Literal, scan_counts
from functx._transforms.arguments import kind_of
from functx._transforms.numbers import array_of_program, as_array
from functx._transforms.outputs import is_key
from functx._transforms.programs.walking import dropped, inner_programs, opened

from .primitive import tap_point


Supplies: TypeAlias = dict[str, Any]  # by name; with a leading axis for the steps of a `scan`
Asked: TypeAlias = Callable[[JaxprEqn], bool]
Step: TypeAlias = Callable[[JaxprEqn, list[Any]], Sequence[Any]]
Visit: TypeAlias = Callable[[JaxprEqn, list[Any], Supplies], tuple[Sequence[Any], Supplies]]
Enter: TypeAlias = Callable[[Any, Sequence[Any], Supplies], tuple[list[Any], Supplies]]


class Recorded:
    """The program that `func(*args)` is, with the tree of its output, whatever that holds.

    Numbers in it are arrays of the default dtype, and no array is weakly typed.

    `names` are those of axes that collectives in it may cross, with their sizes.
    """

    def __init__(
        self, func: Callable[..., Any], *args: Any, names: Sequence[tuple[Any, int]] = ()
    ) -> None:
        self.tree: Any = None
        self.is_array: list[bool] = []
        self.others: list[Any] = []
        self.program: ClosedJaxpr = jax.make_jaxpr(self._arrays(func), axis_env=names)(*args)

    def _arrays(self, func: Callable[..., Any]) -> Callable[..., list[Array]]:
        def function(*args: Any) -> list[Array]:
            leaves, self.tree = jax.tree.flatten(func(*args))
            self.is_array = [kind_of(x) != "other" or is_key(x) for x in leaves]
            self.others = [x for x, array in zip(leaves, self.is_array, strict=True) if not array]
            return [as_array(x) for x, array in zip(leaves, self.is_array, strict=True) if array]

        return function

    def output(self, arrays: Sequence[Any]) -> Any:
        """The output that consists of `arrays`, the program's results."""
        given = (x if x is None else array_of_program(x) for x in arrays)
        others = iter(self.others)
        return self.tree.unflatten([next(given if array else others) for array in self.is_array])


def bind(eqn: JaxprEqn, operands: Sequence[Any]) -> list[Any]:
    """What the equation computes from `operands`, in the context in which it was recorded.

    `None` stands for results that no equation reads.
    """
    pairs = zip(eqn.invars, operands, strict=True)
    given = {x: value for x, value in pairs if not isinstance(x, Literal)}
    read = [x for x in eqn.outvars if not dropped(x)]
    alone = _nothing().replace(invars=list(given), outvars=read, eqns=[eqn], effects=eqn.effects)
    closed = alone if isinstance(alone, ClosedJaxpr) else ClosedJaxpr(alone, [])
    results = iter(jaxpr_as_fun(closed)(*given.values()))
    return [None if dropped(x) else next(results) for x in eqn.outvars]


@ft.cache
def _nothing() -> Jaxpr:
    """A program without equations: JAX runs one equation publicly in a program alone."""
    return opened(jax.make_jaxpr(lambda: ())())[0]


def run(
    program: Any, args: Sequence[Any], step: Step, outputs: Sequence[Any] | None = None
) -> list[Any]:
    """Runs `program`, each equation by `step`, and lets go of values after their last use.

    `outputs` are the atoms whose values come back, by default what the program returns.
    """
    jaxpr, consts = opened(program)
    outputs = jaxpr.outvars if outputs is None else outputs
    values = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args), strict=True))
    last = dict.fromkeys(values, -1)
    for i, eqn in enumerate(jaxpr.eqns):
        last.update((x, i) for x in (*eqn.invars, *eqn.outvars) if not isinstance(x, Literal))
    last.update((x, len(jaxpr.eqns)) for x in outputs if not isinstance(x, Literal))
    ending: dict[int, list[Any]] = {}
    for x, i in last.items():
        ending.setdefault(i, []).append(x)

    def read(x: Any) -> Any:
        return x.val if isinstance(x, Literal) else values[x]

    for i, eqn in enumerate(jaxpr.eqns):
        values.update(zip(eqn.outvars, step(eqn, [*map(read, eqn.invars)]), strict=True))
        for x in ending.get(i, ()):
            del values[x]
    return [*map(read, outputs)]


def can_enter(eqn: JaxprEqn) -> bool:
    """Whether `replay` knows how to run the programs of the equation."""
    return eqn.primitive.name in _ENTERED


def replay(
    program: Any,
    args: Sequence[Any],
    asked: Asked,
    visit: Visit,
    supplies: Supplies,
    may_enter: Asked = can_enter,
) -> tuple[list[Any], Supplies]:
    """Runs `program`, the equations that are `asked` for by `visit`.

    `visit(eqn, operands, supplies)` returns results, and what it found, by name. What is found in
    a `scan` is stacked, and so are the supplies for it.
    """
    found: Supplies = {}

    def enter(
        inner: Any, operands: Sequence[Any], supplies: Supplies
    ) -> tuple[list[Any], Supplies]:
        return replay(inner, operands, asked, visit, supplies, may_enter)

    def step(eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        if asked(eqn):
            results, more = visit(eqn, operands, supplies)
        elif _holds(eqn, asked, may_enter):
            results, more = _ENTERED[eqn.primitive.name](enter, eqn, operands, supplies)
        else:
            return bind(eqn, operands)
        found.update(more)
        return results

    return run(program, args, step), found


def named(program: Any) -> Iterator[tuple[str, JaxprEqn]]:
    """The equations of named taps in `program` that `replay` can reach, with the names."""
    for eqn in opened(program)[0].eqns:
        if eqn.primitive is tap_point and eqn.params["tap"].name is not None:
            yield eqn.params["tap"].name, eqn
        for inner in inner_programs(eqn) if can_enter(eqn) else ():
            yield from named(inner)


def _holds(eqn: JaxprEqn, asked: Asked, may_enter: Asked) -> bool:
    """Whether a program of `eqn` that may be entered holds an equation that is asked for."""
    return may_enter(eqn) and any(
        asked(each) or _holds(each, asked, may_enter)
        for inner in inner_programs(eqn)
        for each in inner.eqns
    )


def _jit(enter: Enter, eqn: JaxprEqn, operands: list[Any], supplies: Supplies) -> Any:
    return enter(eqn.params["jaxpr"], operands, supplies)


def _checkpoint(enter: Enter, eqn: JaxprEqn, operands: list[Any], supplies: Supplies) -> Any:
    function = ft.partial(enter, eqn.params["jaxpr"])
    policy, prevent_cse = eqn.params["policy"], eqn.params["prevent_cse"]
    return jax.checkpoint(function, policy=policy, prevent_cse=prevent_cse)(operands, supplies)


def _cond(enter: Enter, eqn: JaxprEqn, operands: list[Any], supplies: Supplies) -> Any:
    branches = [ft.partial(enter, branch) for branch in eqn.params["branches"]]
    return lax.switch(operands[0], branches, operands[1:], supplies)


def _scan(enter: Enter, eqn: JaxprEqn, operands: list[Any], supplies: Supplies) -> Any:
    params, (consts, carries) = eqn.params, scan_counts(eqn.params)
    fixed, carry, xs = operands[:consts], operands[consts:][:carries], operands[consts + carries :]
    inside = {name: supplies[name] for name, _ in named(params["jaxpr"]) if name in supplies}

    def body(carry: list[Any], x: tuple[list[Any], Supplies]) -> Any:
        results, found = enter(params["jaxpr"], [*fixed, *carry, *x[0]], x[1])
        return results[:carries], (results[carries:], found)

    options = {option: params[option] for option in ("length", "reverse", "unroll")}
    carry, (ys, found) = lax.scan(body, carry, (xs, inside), **options)
    return [*carry, *ys], found


_ENTERED: dict[str, Callable[..., tuple[list[Any], Supplies]]] = {
    "jit": _jit,
    "pjit": _jit,
    "checkpoint": _checkpoint,
    "remat": _checkpoint,
    "remat2": _checkpoint,
    "cond": _cond,
    "scan": _scan,
}
