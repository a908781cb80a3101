"""Programs inside of an equation that run several times, or one of several."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

from functx._core.jax_compat import JaxprEqn, scan_counts
from functx._transforms.programs.walking import type_of

from .equations import TracedValue, UNKNOWN
from .row_sets import everything, identity_rows, Rows, united


if TYPE_CHECKING:
    from .tracing import DependenceTracing

_KEYS = jax.dtypes.prng_key
STEPS = 4096  # of a `while` whose condition is known, taken one by one
ROUNDS = 64  # in which the sets of a `while`'s carry may grow, before they are taken for whole


def _branched(
    tracing: DependenceTracing, eqn: JaxprEqn, values: list[TracedValue]
) -> Sequence[TracedValue]:
    index, *operands = values
    branches = eqn.params["branches"]
    if index.is_known:
        chosen = int(np.clip(np.asarray(index.array).astype(int), 0, len(branches) - 1))
        return tracing.run(branches[chosen], operands)
    found = [tracing.run(branch, operands) for branch in branches]
    results = [_either(*of_result) for of_result in zip(*found, strict=True)]
    if index.rows is None:
        return results
    sizes = [math.prod(type_of(x).shape) for x in eqn.outvars]
    by_index = [TracedValue(everything([index.rows], size)) for size in sizes]
    return [_either(a, b) for a, b in zip(results, by_index, strict=True)]


def _either(*values: TracedValue) -> TracedValue:
    """What may be any of the values."""
    parts = [x.rows for x in values if x.rows is not None]
    if parts:
        return TracedValue(united(parts))
    first, *others = values
    return first if all(_same(first, x) for x in others) else UNKNOWN


def _same(x: TracedValue, y: TracedValue) -> bool:
    """Whether both are known, and of the same values."""
    if x is y or not (x.is_known and y.is_known):
        return x is y
    if any(jnp.issubdtype(v.array.dtype, _KEYS) for v in (x, y) if hasattr(v.array, "dtype")):
        return x.array is y.array
    return np.array_equal(np.asarray(x.array), np.asarray(y.array))


def _while(
    tracing: DependenceTracing, eqn: JaxprEqn, values: list[TracedValue]
) -> Sequence[TracedValue]:
    params = eqn.params
    in_condition, in_body = params["cond_nconsts"], params["body_nconsts"]
    for_condition, for_body = values[:in_condition], values[in_condition:][:in_body]
    carry = values[in_condition + in_body :]

    def body(carry: Sequence[TracedValue]) -> list[TracedValue]:
        return tracing.run(params["body_jaxpr"], [*for_body, *carry])

    for _ in range(STEPS):
        (goes_on,) = tracing.run(params["cond_jaxpr"], [*for_condition, *carry])
        if not goes_on.is_known:
            break
        if not np.any(np.asarray(goes_on.array)):
            return carry
        carry = body(carry)
    for _ in range(ROUNDS):
        grown = [_either(a, b) for a, b in zip(carry, body(carry), strict=True)]
        if all(map(_equal, grown, carry)):
            return _with_condition(tracing, params, for_condition, grown)
        carry = grown
    parts = [x.rows for x in (*for_body, *for_condition, *carry) if x.rows is not None]
    return [TracedValue(everything(parts, math.prod(type_of(x).shape))) for x in eqn.outvars]


def _with_condition(
    tracing: DependenceTracing,
    params: Any,
    for_condition: Sequence[TracedValue],
    carry: Sequence[TracedValue],
) -> Sequence[TracedValue]:
    """The carry, each of which depends on what decides how often the loop runs."""
    (goes_on,) = tracing.run(params["cond_jaxpr"], [*for_condition, *carry])
    if goes_on.rows is None:
        return carry
    types = params["body_jaxpr"].out_avals
    return [
        _either(x, TracedValue(everything([goes_on.rows], math.prod(of.shape))))
        for x, of in zip(carry, types, strict=True)
    ]


def _equal(x: TracedValue, y: TracedValue) -> bool:
    a, b = x.rows, y.rows
    if a is None or b is None:
        return a is b and (x.is_known == y.is_known)
    return a.nnz == b.nnz  # one contains the other


def _scan(
    tracing: DependenceTracing, eqn: JaxprEqn, values: list[TracedValue]
) -> Sequence[TracedValue]:
    params, (consts, carries) = eqn.params, scan_counts(eqn.params)
    length, program = params["length"], params["jaxpr"]
    fixed, carry, xs = values[:consts], values[consts:][:carries], values[consts + carries :]
    shapes = [type_of(x).shape for x in eqn.outvars[carries:]]
    order = range(length)[::-1] if params["reverse"] else range(length)

    def step_by_step() -> list[TracedValue]:
        state, steps = carry, []
        for k in order:
            results = tracing.run(program, [*fixed, *state, *(_at(x, k, length) for x in xs)])
            state = results[:carries]
            steps.append(results[carries:])
        steps = steps[::-1] if params["reverse"] else steps
        ys = [_stacked(of_y, s) for of_y, s in zip(zip(*steps, strict=True), shapes, strict=True)]
        return [*state, *ys]

    if length <= 2:
        return step_by_step() if length else [*carry, *(TracedValue(_no_lines(s)) for s in shapes)]
    moves = [x.rows is not None for x in values]  # a line of what moves may be empty
    step = _StepMap(tracing, program, fixed, carry, [_at(x, 0, length) for x in xs], moves)
    if step.sharpened_by_first_values():
        return step_by_step()
    rows, found = [x.rows for x in carry], []
    for k in order:
        results = step.taken([*(x.rows for x in fixed), *rows, *(_line(x, k, length) for x in xs)])
        rows = results[:carries]
        found.append(results[carries:])
    found = found[::-1] if params["reverse"] else found
    outs = [*step.carry]
    ends = [x if r is None else TracedValue(r) for x, r in zip(outs, rows, strict=True)]
    ys = [
        _stacked([TracedValue(r) for r in of_y], s)
        for of_y, s in zip(zip(*found, strict=True), shapes, strict=True)
    ]
    return [*ends, *ys]


def _no_lines(shape: Sequence[int]) -> None:
    assert math.prod(shape) == 0


class _StepMap:
    """One step of a scan as a map of sets: what its results depend on among its own operands.

    It is the same in all steps where no operand that changes from step to step is known.
    """

    def __init__(
        self,
        tracing: DependenceTracing,
        program: Any,
        fixed: Sequence[TracedValue],
        carry: Sequence[TracedValue],
        xs: Sequence[TracedValue],
        moves: list[bool],
    ):
        self.tracing, self.program = tracing, program
        self.fixed, self.start, self.first = fixed, carry, xs
        self.sizes = [math.prod(x.shape) for x in program.in_avals]
        self.carry = [*carry]
        free = [UNKNOWN] * len(xs)
        while True:
            results = self._run([*fixed, *self.carry, *free], moves)
            again = False
            for i in range(len(carry)):
                at = len(fixed) + i
                if results[i].rows is not None and not moves[at]:
                    moves[at] = again = True
                elif self.carry[i].is_known and not _same(self.carry[i], results[i]):
                    self.carry[i], again = UNKNOWN, True
            if not again:
                break
        self.moves, self.maps = moves, [x.rows for x in results]

    def _run(self, operands: Sequence[TracedValue], moves: Sequence[bool]) -> list[TracedValue]:
        """One step, in which each operand that moves depends on itself."""
        inputs = sum(n for n, moving in zip(self.sizes, moves, strict=True) if moving)
        given, start = [], 0
        for x, n, moving in zip(operands, self.sizes, moves, strict=True):
            given.append(TracedValue(identity_rows(start, n, inputs)) if moving else x)
            start += n if moving else 0
        outer, self.tracing.inputs = self.tracing.inputs, inputs
        try:
            return self.tracing.run(self.program, given)
        finally:
            self.tracing.inputs = outer

    def sharpened_by_first_values(self) -> bool:
        """Whether the values that are known in the first step make the sets of a step smaller."""
        operands = [*self.fixed, *self.start, *self.first]
        known = [x.is_known for x in (*self.start, *self.first)]
        kept = [x.is_known for x in (*self.carry, *[UNKNOWN] * len(self.first))]
        if known == kept:
            return False
        first = [x.rows for x in self._run(operands, self.moves)]
        return any(_count(a) < _count(b) for a, b in zip(first, self.maps, strict=True))

    def taken(self, rows: Sequence[Rows | None]) -> list[Rows | None]:
        """The sets of the results, of those of the operands."""
        given = [
            sp.csr_array((n, self.tracing.inputs), dtype=bool) if x is None else x
            for x, n, moving in zip(rows, self.sizes, self.moves, strict=True)
            if moving
        ]
        if not given:
            return [None] * len(self.maps)
        stacked = sp.vstack(given, format="csr")
        return [None if x is None else x @ stacked for x in self.maps]


def _count(rows: Rows | None) -> int:
    return 0 if rows is None else rows.nnz


def _line(x: TracedValue, k: int, length: int) -> Rows | None:
    if x.rows is None:
        return None
    size = x.rows.shape[0] // length
    return x.rows[k * size : (k + 1) * size]


def _at(x: TracedValue, k: int, length: int) -> TracedValue:
    """The part of a scanned array that step `k` sees."""
    if x.rows is not None:
        return TracedValue(_line(x, k, length))
    return TracedValue(known=lambda: x.array[k]) if x.is_known else UNKNOWN


def _stacked(parts: Sequence[TracedValue], shape: Sequence[int]) -> TracedValue:
    """The results of all steps as one array of this shape."""
    some = next((x.rows for x in parts if x.rows is not None), None)
    if some is None:
        known = all(x.is_known for x in parts)
        return TracedValue(known=lambda: jnp.stack([x.array for x in parts])) if known else UNKNOWN
    size = math.prod(shape[1:])
    empty = sp.csr_array((size, some.shape[1]), dtype=bool)
    return TracedValue(
        sp.vstack([empty if x.rows is None else x.rows for x in parts], format="csr")
    )


LOOPS: dict[
    str, Callable[[DependenceTracing, JaxprEqn, list[TracedValue]], Sequence[TracedValue]]
] = {
    "cond": _branched,
    "while": _while,
    "scan": _scan,
}
