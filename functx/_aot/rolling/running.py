"""Runs a recorded program with loops over its equal layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from functx._core.jax_compat import JaxprEqn, Literal
from functx._transforms.partitioning.work import is_kept
from functx._transforms.programs.interpreting import bind
from functx._transforms.programs.nested import rebind
from functx._transforms.programs.walking import CHECKPOINTS, dropped, equations, opened, type_of

from .layers import EqualLayers
from .planning import LoopedStep, LoopPlans


def run_rolled(program: Any, args: Sequence[Any], plans: LoopPlans) -> list[Any]:
    """What `program` returns for `args`, its equal layers run one after the other by a loop.

    - `plans`: the steps of the program and of those inside of it.
    """
    jaxpr, consts = opened(program)
    steps = plans.steps(program)
    values = _Values(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args), strict=True))
    ending = _last_uses(steps, jaxpr.outvars)
    for i, step in enumerate(steps):
        if isinstance(step, EqualLayers):
            _loop(step, values, plans)
        else:
            operands = [values.read(x) for x in step.invars]
            values.write(step.outvars, _equation(step, operands, plans))
        values.forget(ending.get(i, ()))
    return [values.read(x) for x in jaxpr.outvars]


def _equation(eqn: JaxprEqn, operands: list[Any], plans: LoopPlans) -> Sequence[Any]:
    if not plans.enters(eqn):
        return bind(eqn, operands)

    def inside(program: Any, operands: Sequence[Any], carry: Any, each: Any) -> Any:
        return run_rolled(program, operands, plans), carry, each

    return rebind(eqn, operands, inside)[0]


def _loop(loop: EqualLayers, values: _Values, plans: LoopPlans) -> None:
    """Runs the layers, and writes their results."""
    shared = [values.read(x) for x in loop.shared]
    carried = len(loop.carried)

    def layer(carry: Sequence[Any], each: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        results = run_rolled(loop.body, [*carry, *each, *shared], plans)
        return results[:carried], results[carried:]

    if not any(eqn.primitive.name in CHECKPOINTS for eqn in equations(loop.body)):
        # A loop would keep all that a derivative reads, where the compiler computes again what is
        # cheap of layers that it sees at once.
        layer = jax.checkpoint(layer, policy=is_kept, prevent_cse=False)
    start = [values.array(x) for x in loop.carried]
    each = [values.stacked(atoms) for atoms in loop.stacked]
    last, collected = lax.scan(layer, start, each, length=len(loop.places))
    for variables, rows in zip(loop.collected, collected, strict=True):
        values.write_rows(variables, rows)
    values.write(loop.last, last)


class _Values:
    """The values of variables, and of which stacked array they are rows."""

    def __init__(self, given: Iterable[tuple[Any, Any]]) -> None:
        self._values = dict(given)
        self._rows: dict[Any, tuple[Any, int]] = {}

    def read(self, x: Any) -> Any:
        return x.val if isinstance(x, Literal) else self._values[x]

    def array(self, x: Any) -> Any:
        return jnp.asarray(x.val, type_of(x).dtype) if isinstance(x, Literal) else self._values[x]

    def write(self, variables: Sequence[Any], values: Sequence[Any]) -> None:
        pairs = zip(variables, values, strict=True)
        self._values.update((x, value) for x, value in pairs if not dropped(x))

    def write_rows(self, variables: Sequence[Any], rows: Any) -> None:
        """Writes one row of an array to each variable."""
        for i, x in enumerate(variables):
            if not dropped(x):
                self._values[x] = rows[i]
                self._rows[x] = rows, i

    def stacked(self, atoms: Sequence[Any]) -> Any:
        """The values of atoms as rows of one array, which may be there already."""
        found = [self._rows.get(x) for x in atoms if not isinstance(x, Literal)]
        rows = [row for row in found if row is not None]
        if len(rows) == len(atoms) == rows[0][0].shape[0] and len({id(x) for x, _ in rows}) == 1:
            numbers, forward = [i for _, i in rows], [*range(len(rows))]
            if numbers == forward:
                return rows[0][0]
            if numbers == forward[::-1]:
                return lax.rev(rows[0][0], [0])
        return jnp.stack([self.array(x) for x in atoms])

    def forget(self, variables: Iterable[Any]) -> None:
        for x in variables:
            self._values.pop(x, None)
            self._rows.pop(x, None)


def _last_uses(steps: Sequence[LoopedStep], outputs: Sequence[Any]) -> dict[int, list[Any]]:
    """For each step, the variables that no later one reads."""
    last: dict[Any, int] = {}
    for i, step in enumerate(steps):
        read = step.operands if isinstance(step, EqualLayers) else step.invars
        last.update((x, i) for x in read if not isinstance(x, Literal))
    for x in outputs:
        if not isinstance(x, Literal):
            last.pop(x, None)
    ending: dict[int, list[Any]] = {}
    for x, i in last.items():
        ending.setdefault(i, []).append(x)
    return ending
