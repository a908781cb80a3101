"""What an equation of a recorded program is to its author: an operator, a rule, a line of code."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import jax

import functx._core
from functx._core.jax_compat import JaxprEqn
from functx._core.operators.catalog import definition, operator_called

from .walking import CALLS


_FUNCTX, _JAX = (str(Path(m.__file__ or "").parents[n]) for m, n in [(functx._core, 1), (jax, 0)])
_NOT_THE_USERS = _FUNCTX, _JAX
_OPERATORS = str(Path(_FUNCTX) / "_ops")


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of a user's code."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} ({self.function})"


def operator_of(eqn: JaxprEqn) -> str | None:
    """The operator of the catalog that the equation calls, by its full name, or None."""
    return operator_called(eqn.params) if eqn.primitive.name in CALLS else None


def outside_operators(eqn: JaxprEqn) -> bool:
    """Whether the equation is something else than a call of an operator, for `equations`."""
    return operator_of(eqn) is None


def label_of(eqn: JaxprEqn) -> str:
    """What to call the equation: the operator, the function with own rules, or the primitive."""
    own = eqn.params.get("call") or eqn.params.get("linear")  # of functions with own rules
    return operator_of(eqn) or getattr(own, "name", None) or eqn.primitive.name


def title_of(eqn: JaxprEqn) -> str:
    """As `label_of`, and the name of any other function that is called: of `jnp.var`."""
    label, (function, _) = label_of(eqn), _defined(eqn)
    return function.strip("_<>") if label == eqn.primitive.name and function else label


def is_library_call(eqn: JaxprEqn) -> bool:
    """Whether the equation calls a function of JAX's own library as a whole: `jnp.var`."""
    return eqn.primitive.name in CALLS and _defined(eqn)[1].startswith(_JAX)


def library_function(eqn: JaxprEqn) -> str:
    """The name of the function of JAX's library that the equation calls, or "".

    Those with own derivative rules are meant, too: `relu`.
    """
    function, where = _defined(eqn)
    return function.strip("_<>") if where.startswith(_JAX) else ""


def _defined(eqn: JaxprEqn) -> tuple[str, str]:
    """The name of the function that the equation calls, and where that is defined."""
    if eqn.primitive.name not in (*CALLS, "custom_jvp_call", "custom_vjp_call"):
        return "", ""
    return definition(eqn.params)


def of_operators_code(eqn: JaxprEqn) -> bool:
    """Whether the code of an operator or of its derivative rule made the equation."""
    traceback = eqn.source_info.traceback
    files = [f.file_name for f in traceback.frames] if traceback is not None else []
    return next((f for f in files if not f.startswith(_JAX)), "").startswith(_OPERATORS)


def line_of(eqn: JaxprEqn) -> Line | None:
    """The innermost line outside functx and JAX that led to the equation, if there is one."""
    traceback = eqn.source_info.traceback
    frames = traceback.frames if traceback is not None else ()
    return line_among((f.file_name, f.line_num, f.function_name) for f in frames)


def line_among(frames: Iterable[tuple[str, int, str]]) -> Line | None:
    """The first of file, line and function, from the inside, that is outside functx and JAX."""
    return next((Line(*f) for f in frames if not f[0].startswith(_NOT_THE_USERS)), None)


def stack_of(eqn: JaxprEqn) -> str:
    """The transforms that made the equation, outermost first: `transpose(jvp())`, or nothing."""
    return str(eqn.source_info.name_stack)
