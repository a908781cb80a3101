"""Which functions and equations act on each element alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters import partial_eval

from functx._core.jax_compat import Jaxpr, JaxprEqn
from functx._core.rules.function_primitives import function_call
from functx._transforms.programs.dependence import reads
from functx._transforms.programs.elementwise import ELEMENTWISE
from functx._transforms.programs.walking import CALLS, opened, own_programs, type_of

from .equations import ActiveEquation


def acts_on_elements(function: Callable[..., Any], values: Sequence[Any]) -> bool:
    """Whether the derivative of `function` at `values` moves each element of an output by those
    elements alone of the inputs that lie in its place.

    Functions with own rules count as their rules say. Where it cannot be seen, the answer is no.
    """
    values = [*map(jnp.asarray, values)]
    push = lambda *tangents: jax.jvp(lambda *xs: function(*xs), tuple(values), tangents)[1]
    jaxpr = opened(jax.make_jaxpr(push)(*values))[0]
    read, used = partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))
    return _moved(read, [True] * sum(used)) is not None


def is_elementwise(active: ActiveEquation) -> bool:
    """Whether each element of a result moves with the elements in its place alone.

    Of a function with own rules, its rules say so.
    """
    eqn = active.eqn
    shapes = {tuple(x.shape) for x in [*active.xs, *map(type_of, eqn.outvars)]}
    if len(shapes) != 1:  # numbers stand beside arrays
        return False
    if eqn.primitive is function_call:
        return acts_on_elements(lambda *xs: active.run(*xs)[0], active.xs)
    return eqn.primitive.name in ELEMENTWISE


def is_real_function_of_elements(active: ActiveEquation) -> bool:
    """Whether it makes real numbers of the elements of one real operand, each alone.

    Not by own rules: at singular points they may look at the direction.
    """
    return (
        active.eqn.primitive is not function_call
        and len(active.slots) == 1
        and jnp.isrealobj(active.xs[0])
        and all(jnp.issubdtype(type_of(y).dtype, jnp.floating) for y in active.eqn.outvars)
        and is_elementwise(active)
    )


def _moved(jaxpr: Jaxpr, marks: Sequence[bool]) -> list[bool] | None:
    """Which outputs the marked inputs move, or None where one element may move another."""
    dependent = {x for x, marked in zip(jaxpr.invars, marks, strict=True) if marked}
    for eqn in jaxpr.eqns:
        marks = [reads(dependent, x) for x in eqn.invars]
        if any(marks):
            moved = _moved_by(eqn, marks)
            if moved is None:
                return None
            dependent.update(x for x, one in zip(eqn.outvars, moved, strict=True) if one)
    return [reads(dependent, x) for x in jaxpr.outvars]


def _moved_by(eqn: JaxprEqn, marks: Sequence[bool]) -> list[bool] | None:
    inner = next(own_programs(eqn), None)
    if eqn.primitive.name in CALLS:
        inner = opened(eqn.params["jaxpr"])[0]
    if inner is not None:
        return _moved(inner, marks)
    moving = [type_of(x).shape for x, marked in zip(eqn.invars, marks, strict=True) if marked]
    alike = all(shape == type_of(y).shape for y in eqn.outvars for shape in moving)
    return [True] * len(eqn.outvars) if alike and eqn.primitive.name in ELEMENTWISE else None
