"""Rules of products that are summed along some dimensions of two arrays, one of them sparse."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .equations import DependenceRule, TracedEquation
from .row_sets import everything, mapped, numbers, Rows, taken, united


def _contracted(equation: TracedEquation) -> Rows:
    return united([_of_side(equation, i) for i in equation.dependent])


def _of_side(equation: TracedEquation, own: int) -> Rows:
    """What the result depends on through one operand."""
    contracting, batch = equation.params["dimension_numbers"]
    shape, other = equation.shapes[own], equation.shapes[1 - own]
    free = _free(shape, contracting[own], batch[own])
    other_free = _free(other, contracting[1 - own], batch[1 - own])
    results = numbers(equation.out_shapes[0])
    lead = len(batch[0])
    middle = len(free) if own == 0 else len(other_free)
    if own == 1:  # results as [*batch, *own, *other]
        order = [*range(lead), *range(lead + middle, results.ndim), *range(lead, lead + middle)]
        results = results.transpose(order)
    sizes = [math.prod(shape[d] for d in dims) for dims in (batch[own], free, contracting[own])]
    at = numbers(shape).transpose([*batch[own], *free, *contracting[own]]).reshape(sizes)
    results = results.reshape(sizes[0], sizes[1], -1)
    rows = equation.rows[own]
    nonzero = equation.may_be_nonzero(1 - own)
    if nonzero is None:
        group = np.arange(sizes[0] * sizes[1])
        to = np.broadcast_to(group.reshape(*sizes[:2], 1), sizes)
        sums = mapped(rows, to, at, group.size)
        of = np.empty(results.size, np.int64)
        of[results.ravel()] = np.broadcast_to(group.reshape(*sizes[:2], 1), results.shape).ravel()
        return taken(sums, of)
    nonzero = nonzero.transpose([*batch[1 - own], *contracting[1 - own], *other_free])
    b, k, j = np.nonzero(nonzero.reshape(sizes[0], sizes[2], -1))
    return mapped(rows, results[b, :, j], at[b, :, k], results.size)


def _free(shape: Sequence[int], *others: Sequence[int]) -> list[int]:
    return [d for d in range(len(shape)) if not any(d in dims for dims in others)]


def _of_stored_values(equation: TracedEquation) -> Rows:
    """The product of a BCOO, of its stored values and indices, and a dense array."""
    info, (contracting, batch) = equation.params["lhs_spinfo"], equation.params["dimension_numbers"]
    indices, (data, _, shape) = equation.known(1), equation.shapes
    if indices is None or batch[0] or len(data) != 1 or indices.shape[-1] != len(info.shape):
        return everything([x for x in equation.rows if x is not None], equation.out_size)
    at = indices.astype(np.int64)
    inside = (at < np.array(info.shape)).all(1)
    if (stored := equation.may_be_nonzero(0)) is not None:
        inside &= stored
    at, entries = at[inside], np.flatnonzero(inside)
    rest = _free(shape, contracting[1])
    others = numbers(shape).transpose([*contracting[1], *rest])
    others = others.reshape(*(shape[d] for d in contracting[1]), -1)
    results = numbers(equation.out_shapes[0])
    own = [d for d in range(len(info.shape)) if d not in contracting[0]]
    results = results.reshape(*(info.shape[d] for d in own), -1)
    to = results[tuple(at[:, d] for d in own)].reshape(len(at), -1)
    parts = []
    if equation.rows[0] is not None:
        of = np.broadcast_to(entries[:, None], to.shape)
        parts.append(mapped(equation.rows[0], to, of, equation.out_size))
    if equation.rows[2] is not None:
        of = others[tuple(at[:, d] for d in contracting[0])].reshape(to.shape)
        parts.append(mapped(equation.rows[2], to, of, equation.out_size))
    return united(parts)


PRODUCTS: dict[str, DependenceRule] = {
    "dot_general": _contracted,
    "bcoo_dot_general": _of_stored_values,
}
