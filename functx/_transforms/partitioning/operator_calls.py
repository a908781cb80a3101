"""Which call of an operator an equation of a derivative belongs to, by the scopes around it."""

from __future__ import annotations

import re
from typing import NamedTuple

from functx._core.jax_compat import JaxprEqn
from functx._transforms.programs.labels import stack_of


class OperatorCall(NamedTuple):
    """A call of an operator: which of a program's, and of which operator.

    `str` of it is the name of a scope. What is computed in it again has another: `again`.
    """

    number: int
    operator: str

    def __str__(self) -> str:
        return f"functx.call:{self.number}:{self.operator}"

    @property
    def again(self) -> str:
        """The name of the scope in which the backward pass computes it again."""
        return f"functx.again:{self.number}:{self.operator}"


def call_of(eqn: JaxprEqn) -> OperatorCall | None:
    """The call that the equation of a forward or linear pass belongs to, if it is any's."""
    return _found("call", eqn)


def call_computed_again(eqn: JaxprEqn) -> OperatorCall | None:
    """The call that the equation of a backward pass computes again, if it does."""
    return _found("again", eqn)


def _found(kind: str, eqn: JaxprEqn) -> OperatorCall | None:
    found = re.search(rf"functx\.{kind}:(\d+):([\w.]+)", stack_of(eqn))
    return OperatorCall(int(found[1]), found[2]) if found else None
