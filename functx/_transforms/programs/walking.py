"""The equations of a recorded program, and the programs inside them."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from functx._core.jax_compat import Jaxpr, JaxprEqn, jaxprs_in_params
from functx._core.rules.function_primitives import function_call, function_tangent, tangent_run


# The names of primitives that run programs.
CALLS = ("jit", "pjit")
CHECKPOINTS = ("checkpoint", "remat", "remat2")
LOOPS = ("scan", "while")


def opened(program: Any) -> tuple[Jaxpr, Sequence[Any]]:
    """A program, closed or not, and its constants."""
    return getattr(program, "jaxpr", program), getattr(program, "consts", ())


def inner_programs(eqn: JaxprEqn) -> Iterator[Jaxpr]:
    """The programs that the equation runs: of a `jit`, a loop, each branch of a `cond`."""
    yield from jaxprs_in_params(eqn.params)


def own_programs(eqn: JaxprEqn, names: Sequence[tuple[Any, int]] = ()) -> Iterator[Jaxpr]:
    """The program that the equation runs if it is that of a function with own derivative rules.

    Such an equation holds Python functions, which are recorded for this. `names` are those of axes
    that collectives in them may cross, with their sizes.
    """
    operands = [x.aval for x in eqn.invars]
    if eqn.primitive is function_call:
        yield eqn.params["call"].trace(*operands).jaxpr
    if eqn.primitive is function_tangent:
        run = ft.partial(tangent_run, **eqn.params)
        yield jax.make_jaxpr(run, axis_env=names)(*operands).jaxpr


def equations(program: Any, nested: bool | Callable[[JaxprEqn], bool] = True) -> Iterator[JaxprEqn]:
    """The equations of `program`, those of inner programs after the one that runs them.

    `nested`: whether to go into inner programs, or into which equations'.
    """
    for eqn in opened(program)[0].eqns:
        yield eqn
        if nested(eqn) if callable(nested) else nested:
            for inner in inner_programs(eqn):
                yield from equations(inner, nested)


def type_of(x: Any) -> Any:
    """The shape and dtype of an atom of a program."""
    return x.aval


def dropped(x: Any) -> bool:
    """Whether the result `x` of an equation is read by none, nor returned."""
    return type(x).__name__ == "DropVar"
