"""Which outputs of a recorded program depend on its inputs."""

from __future__ import annotations

from typing import Any

from jax.interpreters import partial_eval

from functx._core.jax_compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from .walking import CALLS, equations


def depending_outputs(jaxpr: Jaxpr, inputs: list[bool] | None = None) -> list[bool]:
    """For each output, whether it depends on any of the inputs that `inputs` marks (or any).

    An equation is taken to make all of its outputs depend on each of its inputs, unless it calls
    an inner program, or JAX knows better: of loops, branches and checkpoints.
    """
    marks = [True] * len(jaxpr.invars) if inputs is None else inputs
    reached = _reached(jaxpr, marks)
    if not any(map(_is_structured, equations(jaxpr))):
        return reached
    return [
        hit and any(a and b for a, b in zip(marks, _read_for(jaxpr, i), strict=True))
        for i, hit in enumerate(reached)
    ]


def _reached(jaxpr: Jaxpr, marks: list[bool]) -> list[bool]:
    dependent = {var for var, marked in zip(jaxpr.invars, marks, strict=True) if marked}
    for eqn in jaxpr.eqns:
        marks = [reads(dependent, x) for x in eqn.invars]
        if any(marks):
            dependent.update(
                var
                for var, marked in zip(eqn.outvars, _outputs_of(eqn, marks), strict=True)
                if marked
            )
    return [reads(dependent, x) for x in jaxpr.outvars]


def reads(dependent: set[Any], x: Any) -> bool:
    """Whether the atom `x` is one of the `dependent` variables."""
    return not isinstance(x, Literal) and x in dependent


def _outputs_of(eqn: JaxprEqn, marks: list[bool]) -> list[bool]:
    inner = eqn.params.get("jaxpr")
    if _is_call(eqn) and isinstance(inner, ClosedJaxpr) and len(inner.jaxpr.invars) == len(marks):
        return _reached(inner.jaxpr, marks)
    return [True] * len(eqn.outvars)


def _is_call(eqn: JaxprEqn) -> bool:
    return eqn.primitive.name in CALLS


def _is_structured(eqn: JaxprEqn) -> bool:
    """Whether JAX has a rule for which of the equation's inputs are needed for which outputs."""
    return not _is_call(eqn) and eqn.primitive in partial_eval.dce_rules


def _read_for(jaxpr: Jaxpr, output: int) -> list[bool]:
    """For each input, whether it is still read once all outputs but one are pruned."""
    wanted = [i == output for i in range(len(jaxpr.outvars))]
    return partial_eval.dce_jaxpr(jaxpr, wanted)[1]
