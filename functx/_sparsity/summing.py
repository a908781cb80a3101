"""Rules of primitives that take all elements along some dimensions together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from .equations import DependenceRule, TracedEquation
from .row_sets import along, groups, mapped, numbers, Rows, taken, united


def _reduced(option: str) -> DependenceRule:
    """Reductions; of several operands, each result depends on all."""

    def rule(equation: TracedEquation) -> list[Rows]:
        size, dims = equation.out_size, equation.params[option]
        parts = []
        for i in equation.dependent:
            if equation.shapes[i] == () and equation.shapes[0] != ():  # an initial value
                parts.append(taken(equation.rows[i], np.zeros(size, np.int64)))
                continue
            group = groups(equation.shapes[i], dims)
            parts.append(mapped(equation.rows[i], group, np.arange(group.size), size))
        return [united(parts)] * len(equation.out_shapes)

    return rule


def _accumulated(equation: TracedEquation) -> Rows:
    """Each element depends on those up to it; with `reverse`, on those from it on."""
    shape, axis = equation.shapes[0], equation.params["axis"]
    later, earlier = np.tril_indices(shape[axis])
    if equation.params["reverse"]:
        later, earlier = earlier, later
    at = np.moveaxis(numbers(shape), axis, 0).reshape(shape[axis], -1)
    return mapped(equation.rows[0], at[later], at[earlier], equation.out_size)


def _mixed(dims: Callable[[TracedEquation, int], Sequence[int]]) -> DependenceRule:
    """Results of the operands' batch shape, which depend on all along the other dimensions.

    `dims(equation, rank)` are these, of an array with that many dimensions.
    """

    def rule(equation: TracedEquation) -> list[Rows]:
        batch, parts = (), []
        for i in equation.dependent:
            shape = equation.shapes[i]
            rest = [d % len(shape) for d in dims(equation, len(shape))]
            batch = tuple(n for d, n in enumerate(shape) if d not in rest)
            group = groups(shape, rest)
            parts.append(mapped(equation.rows[i], group, np.arange(group.size), math.prod(batch)))
        rows, results = united(parts), []
        for shape in equation.out_shapes:
            rest = [d % len(shape) for d in dims(equation, len(shape))] if shape else []
            results.append(taken(rows, groups(shape, rest)))
        return results

    return rule


def _sorted(equation: TracedEquation) -> list[Rows]:
    """Every operand is moved alike, by what the keys say."""
    dim = [equation.params["dimension"]]
    shape = equation.shapes[0]
    rows = united([along(equation.rows[i], shape, dim) for i in equation.dependent])
    return [rows] * len(equation.out_shapes)


def _solved(equation: TracedEquation) -> Rows:
    """Right hand sides do not mix; each depends on all of the matrix."""
    shapes, left = equation.shapes, equation.params["left_side"]
    parts = []
    if equation.rows[0] is not None:
        group = groups(shapes[0], [len(shapes[0]) - 2, len(shapes[0]) - 1])
        count = math.prod(shapes[0][:-2])
        whole = mapped(equation.rows[0], group, np.arange(group.size), count)
        dims = [len(shapes[1]) - 2, len(shapes[1]) - 1]
        parts.append(taken(whole, groups(shapes[1], dims)))
    if equation.rows[1] is not None:
        parts.append(along(equation.rows[1], shapes[1], [len(shapes[1]) - (2 if left else 1)]))
    return united(parts)


def _last(count: int) -> DependenceRule:
    return _mixed(lambda equation, rank: range(rank - min(rank, count), rank))


_REDUCTIONS = """
reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or reduce_xor argmax argmin
"""

SUMMING: dict[str, DependenceRule] = {
    **dict.fromkeys(_REDUCTIONS.split(), _reduced("axes")),
    "reduce": _reduced("dimensions"),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), _accumulated),
    "sort": _sorted,
    "fft": _mixed(lambda equation, rank: range(rank - len(equation.params["fft_lengths"]), rank)),
    "triangular_solve": _solved,
    "cholesky": _last(2),
    "top_k": _last(1),
}
