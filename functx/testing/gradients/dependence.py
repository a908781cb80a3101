"""Which outputs may have a derivative, whatever the rules say it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from functx.testing.hiding import of_findings

from .point import inexact, Point


__tracebackhide__ = of_findings


def differentiable_outputs(point: Point) -> list[int]:
    """The outputs to which real and complex numbers lead from the inputs.

    `stop_gradient` ends such a path, and so do integers; a derivative rule never does, for it may
    have forgotten an output. What cannot be recorded is taken to depend.
    """
    try:
        jaxpr = jax.make_jaxpr(point)(*point.inputs).jaxpr
    except Exception:  # a function that runs eagerly only; what else is wrong, calling it tells
        return point.inexact
    reached = _reached(jaxpr, [True] * len(jaxpr.invars))
    return [i for i in point.inexact if reached[i]]


def _reached(jaxpr: Jaxpr, marks: Sequence[bool]) -> list[bool]:
    found = {var for var, mark in zip(jaxpr.invars, marks, strict=True) if mark}
    for eqn in jaxpr.eqns:
        marks = [_in(found, x) for x in eqn.invars]
        if any(marks) and eqn.primitive.name != "stop_gradient":
            outputs = zip(eqn.outvars, _reached_by(eqn, marks), strict=True)
            found |= {var for var, mark in outputs if mark and inexact(var.aval)}
    return [_in(found, x) for x in jaxpr.outvars]


def _reached_by(eqn: Any, marks: list[bool]) -> list[bool]:
    inner = eqn.params.get("jaxpr")
    if eqn.primitive.name in ("jit", "pjit") and isinstance(inner, ClosedJaxpr):
        return _reached(inner.jaxpr, marks)
    return [True] * len(eqn.outvars)


def _in(found: set[Any], x: Any) -> bool:
    return not isinstance(x, Literal) and x in found
