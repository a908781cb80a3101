"""Rules of primitives whose results depend, element by element, on the operands' elements."""

from __future__ import annotations

import numpy as np

from functx._transforms.programs.elementwise import ELEMENTWISE, ELEMENTWISE_BESIDE

from .equations import DependenceRule, TracedEquation
from .row_sets import numbers, Rows, taken, united, where


def elementwise(equation: TracedEquation) -> Rows:
    """The unions of the sets at equal positions; an operand of rank 0 is at all."""
    return united([_at_results(equation, i) for i in equation.dependent])


def multiplied(equation: TracedEquation) -> Rows:
    """The same, but for what is multiplied with a known zero."""
    parts = []
    for i in equation.dependent:
        nonzero = equation.may_be_nonzero(1 - i)
        rows = _at_results(equation, i)
        if nonzero is not None:
            rows = where(rows, np.broadcast_to(nonzero, equation.out_shapes[0]))
        parts.append(rows)
    return united(parts)


def selected(equation: TracedEquation) -> Rows:
    """Of the cases of a `select_n`, the one that is chosen where that is known, or all."""
    which = equation.known(0)
    if which is None:
        return elementwise(equation)
    which = np.broadcast_to(which, equation.out_shapes[0])
    parts = [where(_at_results(equation, i), which == i - 1) for i in equation.dependent if i > 0]
    return united(parts)


def _at_results(equation: TracedEquation, i: int) -> Rows:
    rows, shape, out = equation.rows[i], equation.shapes[i], equation.out_shapes[0]
    return rows if shape == out else taken(rows, np.broadcast_to(numbers(shape), out))


def kept_apart(equation: TracedEquation) -> list[Rows | None]:
    """Results that are the operands, one by one."""
    return equation.rows[: len(equation.out_shapes)]


# What leaves values as they are.
_UNCHANGED = """
device_put first_lane grad_gate grad_gate_tangent layout_constraint name once_differentiable_input
pbroadcast pvary reshard result_name sharding_constraint stand_in
"""

ELEMENTWISE_RULES: dict[str, DependenceRule] = {
    **dict.fromkeys((*ELEMENTWISE, *ELEMENTWISE_BESIDE, *_UNCHANGED.split()), elementwise),
    "mul": multiplied,
    "select_n": selected,
    **dict.fromkeys(("optimization_barrier", "tap"), kept_apart),
}
