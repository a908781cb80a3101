"""Runs a recorded program on values that carry derivatives beside what they are.

Values that do not depend on the inputs stay plain arrays, and are computed as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import jax.numpy as jnp
from jax import lax

from functx._core.jax_compat import JaxprEqn, scan_counts
from functx._core.rules.tangent_types import inexact
from functx._transforms.programs.dependence import depending_outputs
from functx._transforms.programs.interpreting import bind, interpret, Visitor
from functx._transforms.programs.nested import rebind
from functx._transforms.programs.walking import CALLS, CHECKPOINTS, opened, type_of

from .equations import ActiveEquation, is_constant


M = TypeVar("M")


class Propagation(Visitor, Generic[M]):
    """Runs equations on values, those that move being of the class `moving`.

    - `moving`: that class, a JAX tree; its `value` is the value itself.
    - `lifted(x)`: an array as a value that moves nowhere.
    - `closed(x)`: a value as loops and branches can carry it.
    - `stepwise(x)`, `unstepped(x)`: a value whose first dimension is the steps of a `scan`, with
      the steps first in all of its arrays, and back.
    - `derive(active, operands)`: the results of an equation, in the order of its outputs.
    """

    moving: type[M]

    def lifted(self, x: Any) -> M:
        raise NotImplementedError

    def closed(self, x: M) -> M:
        return x

    def stepwise(self, x: M) -> M:
        return x

    def unstepped(self, x: M) -> M:
        return x

    def derive(self, active: ActiveEquation, operands: list[Any]) -> Sequence[Any]:
        raise NotImplementedError

    def moves(self, x: Any) -> bool:
        return isinstance(x, self.moving)

    def value(self, x: Any) -> Any:
        """A value without what it carries."""
        return x.value if self.moves(x) else x

    def __call__(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        if not any(map(self.moves, operands)):
            return bind(eqn, operands)
        if is_constant(eqn):
            return bind(eqn, [*map(self.value, operands)])
        return super().__call__(eqn, operands)

    def enters(self, eqn: JaxprEqn) -> bool:
        # The specs of a `shard_map` are those of plain arrays.
        return super().enters(eqn) and eqn.primitive.name != "shard_map"

    def equation(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        moves = [*map(self.moves, operands)]
        return self.derive(ActiveEquation(eqn, [*map(self.value, operands)], moves), operands)

    def nested(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        name = eqn.primitive.name
        if name in CALLS:
            return interpret(eqn.params["jaxpr"], operands, self)
        if name in CHECKPOINTS:
            return super().nested(eqn, operands)
        operands = [*map(self._closed, operands)]
        return {"cond": self._cond, "scan": self._scan, "while": self._while}[name](eqn, operands)

    def _closed(self, x: Any) -> Any:
        return self.closed(x) if self.moves(x) else x

    def _as_marked(
        self, atoms: Sequence[Any], values: Sequence[Any], marks: Sequence[bool]
    ) -> list[Any]:
        """The values of `atoms`: those that are marked move, the others do not."""
        return [
            self.carried(x, atom) if mark and inexact(type_of(atom)) else self.value(x)
            for x, atom, mark in zip(values, atoms, marks, strict=True)
        ]

    def carried(self, x: Any, atom: Any) -> M:
        if self.moves(x):
            return self.closed(x)
        aval = type_of(atom)
        full = jnp.broadcast_to(lax.convert_element_type(x, aval.dtype), aval.shape)
        return self.lifted(full)

    def _cond(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        given = [*map(self.moves, operands[1:])]
        each = [depending_outputs(opened(b)[0], given) for b in eqn.params["branches"]]
        marks = [any(of_one) for of_one in zip(*each, strict=True)]

        def inside(program: Any, operands: Sequence[Any], carry: Any, each: Any) -> Any:
            results = interpret(program, operands, self)
            return self._as_marked(opened(program)[0].outvars, results, marks), carry, each

        return rebind(eqn, operands, inside)[0]

    def _scan(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        body, (consts, carries) = eqn.params["jaxpr"], scan_counts(eqn.params)
        stop = consts + carries
        marks = self._settled(body, [*map(self.moves, operands)], consts, carries)
        start = self._as_marked(opened(body)[0].invars[consts:stop], operands[consts:stop], marks)
        xs = [self.stepwise(x) if self.moves(x) else x for x in operands[stop:]]
        given = [*map(self.moves, (*operands[:consts], *start, *xs))]
        found = depending_outputs(opened(body)[0], given)
        found = [*marks, *found[carries:]]

        def inside(program: Any, operands: Sequence[Any], carry: Any, each: Any) -> Any:
            results = interpret(program, operands, self)
            return self._as_marked(opened(program)[0].outvars, results, found), carry, each

        results = rebind(eqn, [*operands[:consts], *start, *xs], inside)[0]
        ys = [self.unstepped(y) if self.moves(y) else y for y in results[carries:]]
        return [*results[:carries], *ys]

    def _while(self, eqn: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
        condition, body = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
        first, consts = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        given, stop = operands[first:], first + consts
        carries = len(operands) - stop
        marks = self._settled(body, [*map(self.moves, given)], consts, carries)
        start = self._as_marked(opened(body)[0].invars[consts:], operands[stop:], marks)

        def inside(program: Any, operands: Sequence[Any], carry: Any, each: Any) -> Any:
            if program is condition:  # derivatives decide nothing
                return interpret(program, [*map(self.value, operands)], bind), carry, each
            results = interpret(program, operands, self)
            return self._as_marked(opened(program)[0].outvars, results, marks), carry, each

        return rebind(eqn, [*operands[:stop], *start], inside)[0]

    def _settled(self, body: Any, moves: list[bool], consts: int, carries: int) -> list[bool]:
        """Which of the carried values move in some step."""
        before, own, after = moves[:consts], moves[consts:][:carries], moves[consts + carries :]
        while True:
            found = depending_outputs(opened(body)[0], [*before, *own, *after])[:carries]
            settled = [a or b for a, b in zip(own, found, strict=True)]
            if settled == own:
                return own
            own = settled
