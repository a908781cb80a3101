"""Which outputs of a recorded program depend on its inputs."""

from __future__ import annotations

from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, Literal


def depending_outputs(jaxpr: Jaxpr, inputs: list[bool] | None = None) -> list[bool]:
    """For each output, whether it depends on any of the inputs that `inputs` marks (or any).

    Calls of one inner program are looked into; any other equation is taken to make all of
    its outputs depend on each of its inputs.
    """
    marks = [True] * len(jaxpr.invars) if inputs is None else inputs
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


def _outputs_of(eqn: Any, marks: list[bool]) -> list[bool]:
    inner = eqn.params.get("jaxpr")
    if (
        eqn.primitive.name in ("jit", "pjit")
        and isinstance(inner, ClosedJaxpr)
        and len(inner.jaxpr.invars) == len(marks)
    ):
        return depending_outputs(inner.jaxpr, marks)
    return [True] * len(eqn.outvars)
