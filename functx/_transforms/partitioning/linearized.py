"""A program as its forward pass and its linear pass, which reads values of the forward pass."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
from jax.interpreters.partial_eval import dce_jaxpr

from functx._core.jax_compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from functx._core.rules.tangent_types import inexact
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx._transforms.programs.labels import Line, line_of, operator_of
from functx._transforms.programs.walking import CALLS

from .operator_calls import call_of, OperatorCall


@dataclasses.dataclass(frozen=True, eq=False)
class Linearized:
    """The derivative of a program by some of its inputs.

    - `forward`: the forward pass, of equations that call no others; its outputs are those of the
      program. Its values are what the linear pass may read.
    - `consts`: the values of its `constvars`.
    - `linear`: the equations of the linear pass, which read values of `forward`, too.
    - `tangents`: the variables of the tangents of the inputs; `out_tangents`: those of the outputs
      that are inexact, as atoms.
    - `linear_consts`: the values of constants of the linear pass, by variable.
    - `call_lines`: the user's line of each call of an operator, by the number of the call.
    """

    forward: Jaxpr
    consts: Sequence[Any]
    linear: tuple[JaxprEqn, ...]
    tangents: tuple[Any, ...]
    out_tangents: tuple[Any, ...]
    linear_consts: dict[Any, Any]
    call_lines: Sequence[Line | None] = ()

    def line_of(self, eqn: JaxprEqn) -> Line | None:
        """The user's line that led to an equation of the derivative."""
        call = call_of(eqn)
        return line_of(eqn) if call is None else self.call_lines[call.number]


def variables(atoms: Sequence[Any]) -> list[Any]:
    """Those of the atoms that are no literals."""
    return [x for x in atoms if not isinstance(x, Literal)]


def linearized(program: ClosedJaxpr, active: Sequence[int]) -> Linearized:
    """The derivative of `program` by the inputs with these numbers."""
    lines: list[Line | None] = []
    moves = [inexact(x) for x in program.out_avals]

    def forward(*arrays: Any) -> Any:
        def at(*moved: Any) -> tuple[list[Any], list[Any]]:
            given = dict(zip(active, moved, strict=True))
            lines.clear()  # the function is traced more than once
            values = [given.get(i, x) for i, x in enumerate(arrays)]
            outputs = interpret(program, values, Labelling(lines))
            return [y for y, one in zip(outputs, moves, strict=True) if one], outputs

        _, push, outputs = jax.linearize(at, *(arrays[i] for i in active), has_aux=True)
        return outputs, push

    types = program.in_avals
    traced, (outputs, push) = jax.make_jaxpr(forward, return_shape=True)(*types)
    moving = [types[i] for i in active]
    pushed = jax.make_jaxpr(lambda push, *tangents: push(*tangents))(push, *moving)
    joined = _joined(_flat(traced), _flat(pushed), len(outputs), len(moving))
    return dataclasses.replace(joined, call_lines=tuple(lines))


class Labelling(Visitor):
    """Runs each call of an operator in a scope that its derivative inherits."""

    def __init__(self, lines: list[Line | None]) -> None:
        self.lines = lines

    def enters(self, eqn: JaxprEqn) -> bool:
        return eqn.primitive.name in CALLS and operator_of(eqn) is None

    def equation(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        operator = operator_of(eqn)
        if operator is None:
            return bind(eqn, operands)
        self.lines.append(line_of(eqn))
        with jax.named_scope(str(OperatorCall(len(self.lines) - 1, operator))):
            return bind(eqn, operands)


def _joined(forward: ClosedJaxpr, linear: ClosedJaxpr, outputs: int, tangents: int) -> Linearized:
    """The linear pass, with its residuals replaced by the values that they are."""
    pushed = linear.jaxpr
    pushed, used = dce_jaxpr(pushed, [True] * len(pushed.outvars), instantiate=False)
    kept = [*used[: len(used) - tangents]]
    atoms = [x for x, is_read in zip(forward.jaxpr.outvars[outputs:], kept, strict=True) if is_read]
    inputs = linear.jaxpr.invars[len(used) - tangents :]
    names = dict(zip(pushed.invars, atoms, strict=False))
    read = lambda x: x if isinstance(x, Literal) else names.get(x, x)
    eqns = tuple(eqn.replace(invars=[*map(read, eqn.invars)]) for eqn in pushed.eqns)
    wanted = [True] * outputs + kept
    own, _ = dce_jaxpr(forward.jaxpr, wanted, instantiate=True)
    consts = dict(zip(linear.jaxpr.constvars, linear.consts, strict=True))
    held = dict(zip(forward.jaxpr.constvars, forward.consts, strict=True))
    own = own.replace(outvars=own.outvars[:outputs])
    return Linearized(
        own,
        [held[x] for x in own.constvars],
        eqns,
        tuple(inputs),
        tuple(map(read, pushed.outvars)),
        consts,
    )


def _flat(program: ClosedJaxpr) -> ClosedJaxpr:
    """The same, with the equations of functions that are called in the place of the calls."""

    def visit(eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        if eqn.primitive.name not in CALLS:
            return bind(eqn, operands)
        call = call_of(eqn)
        with jax.named_scope(str(call)) if call else contextlib.nullcontext():
            return interpret(eqn.params["jaxpr"], operands, visit)

    def run(*arrays: Any) -> list[Any]:
        return interpret(program, arrays, visit)

    return jax.make_jaxpr(run)(*program.in_avals)
