"""Whether a function of arrays acts on each element alone, as its derivative's program shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters import partial_eval

from functx._core.jax_compat import Jaxpr, JaxprEqn
from functx._transforms.programs.dependence import reads
from functx._transforms.programs.walking import CALLS, opened, own_programs, type_of

from .equations import ELEMENTWISE


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
