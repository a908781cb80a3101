"""Rules of primitives that take all elements along some dimensions together."""

from __future__ import annotations

import math

import numpy as np

from .equations import DependenceRule, TracedEquation
from .row_sets import along, groups, mapped, numbers, Rows, taken


def _reduced(equation: TracedEquation) -> Rows:
    """Reductions of one operand."""
    group = groups(equation.shapes[0], equation.params["axes"])
    return mapped(equation.rows[0], group, np.arange(group.size), equation.out_size)


def _accumulated(equation: TracedEquation) -> Rows:
    """Each element depends on those up to it; with `reverse`, on those from it on."""
    shape, axis = equation.shapes[0], equation.params["axis"]
    later, earlier = np.tril_indices(shape[axis])
    if equation.params["reverse"]:
        later, earlier = earlier, later
    at = np.moveaxis(numbers(shape), axis, 0).reshape(shape[axis], -1)
    return mapped(equation.rows[0], at[later], at[earlier], equation.out_size)


def _transformed(equation: TracedEquation) -> Rows:
    """Fourier transforms, whose last dimension may have another size afterwards."""
    shape, (out,) = equation.shapes[0], equation.out_shapes
    lengths = len(equation.params["fft_lengths"])
    group = groups(shape, range(len(shape) - lengths, len(shape)))
    count = math.prod(shape[: len(shape) - lengths])
    rows = mapped(equation.rows[0], group, np.arange(group.size), count)
    return taken(rows, groups(out, range(len(out) - lengths, len(out))))


def _solved(equation: TracedEquation) -> Rows:
    """Right hand sides do not mix. A derivative is linear in them, never in the matrix."""
    shape, left = equation.shapes[1], equation.params["left_side"]
    return along(equation.rows[1], shape, [len(shape) - (2 if left else 1)])


# Rules of what a derivative does with tangents, and of what it may ask of them. All other
# primitives that mix elements are applied to values that tangents do not reach.
_REDUCTIONS = "reduce_sum reduce_max reduce_min reduce_and reduce_or"

SUMMING: dict[str, DependenceRule] = {
    **dict.fromkeys(_REDUCTIONS.split(), _reduced),
    "cumsum": _accumulated,
    "fft": _transformed,
    "triangular_solve": _solved,
}
