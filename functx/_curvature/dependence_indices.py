"""Which rows of Jacobians an equation needs, where elements depend on few inputs each.

So the network of each of many particles has rows for its own coordinates, and a distance between
two for those of both. What is not known here has a row for each input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

from functx._core.jax_compat import JaxprEqn
from functx._core.rules.function_primitives import function_call
from functx._transforms.programs.elementwise import ELEMENTWISE
from functx._transforms.programs.interpreting import bind
from functx._transforms.programs.walking import type_of

from .curved_values import Curved, RowIndex
from .equations import ActiveEquation
from .pointwise import is_elementwise


# Move or repeat the elements of one operand.
_MOVING = frozenset(
    "broadcast_in_dim expand_dims reshape rev slice split squeeze transpose".split()
)

Arranged: TypeAlias = tuple[list[Curved], list[RowIndex] | None]


def arranged(active: ActiveEquation, curved: Sequence[Curved], count: int) -> Arranged:
    """The operands with rows that fit together, and the indices of the results.

    Without these, there is a row for each of the `count` inputs.
    """
    if all(x.index is not None for x in curved):
        found = _FINDING.get(active.eqn.primitive.name, _unknown)(active, curved, count)
        if found is not None:
            return found
    return [x.dense(count) for x in curved], None


def _unknown(active: ActiveEquation, curved: Sequence[Curved], count: int) -> Arranged | None:
    return None


def _elementwise(active: ActiveEquation, curved: Sequence[Curved], count: int) -> Arranged | None:
    if not is_elementwise(active):
        return None
    joint = curved[0].index
    if any(x.index != joint for x in curved):
        joint = _joint([_numbers(x) for x in curved], count)
    if joint is None:
        return None
    return [x.over(joint) for x in curved], [joint] * len(active.eqn.outvars)


def _moving(active: ActiveEquation, curved: Sequence[Curved], count: int) -> Arranged | None:
    [x], [slot] = curved, active.slots
    numbers = _numbers(x)
    each = [_moved(active.eqn, slot, active.values, row) for row in numbers]
    return [x], [RowIndex(np.stack(rows)) for rows in zip(*each, strict=True)]


def _moved(eqn: JaxprEqn, slot: int, values: Sequence[Any], row: np.ndarray) -> list[np.ndarray]:
    operands = list(values)
    operands[slot] = row
    with jax.ensure_compile_time_eval():
        return [np.asarray(y) for y in bind(eqn, operands)]


def _concatenated(active: ActiveEquation, curved: Sequence[Curved], count: int) -> Arranged | None:
    most = max(_numbers(x).shape[0] for x in curved)
    padded = []
    for x in curved:
        numbers = _numbers(x)
        missing = np.full((most - numbers.shape[0], *numbers.shape[1:]), -1, np.int32)
        padded.append(x.over(RowIndex(np.concatenate([numbers, missing]))))
    given = dict(zip(active.slots, padded, strict=True))
    parts = [
        _numbers(given[i]) if i in given else np.full((most, *np.shape(y)), -1, np.int32)
        for i, y in enumerate(active.values)
    ]
    numbers = np.concatenate(parts, 1 + active.eqn.params["dimension"])
    return padded, [RowIndex(numbers)]


def _summed(active: ActiveEquation, curved: Sequence[Curved], count: int) -> Arranged | None:
    axes = tuple(active.eqn.params["axes"])
    return _contracted(curved[0], axes, count, lambda numbers: numbers)


def _product(active: ActiveEquation, curved: Sequence[Curved], count: int) -> Arranged | None:
    if len(active.slots) != 1:
        return None
    [x], [slot] = curved, active.slots
    contracted, batch = active.eqn.params["dimension_numbers"]
    taken = {*contracted[slot], *batch[slot]}
    kept = [d for d in range(x.value.ndim) if d not in contracted[slot]]
    order = [*batch[slot], *(d for d in kept if d not in taken)]
    other = np.ndim(active.values[1 - slot]) - len(batch[slot]) - len(contracted[slot])

    def placed(numbers: np.ndarray) -> np.ndarray:
        """From the order of the operand's dimensions to that of the product's."""
        numbers = np.transpose(numbers, (0, *(1 + kept.index(d) for d in order)))
        at = 1 + len(batch[slot]) if slot == 1 else numbers.ndim
        shape = (*numbers.shape[:at], *(1,) * other, *numbers.shape[at:])
        [y] = active.eqn.outvars
        return np.broadcast_to(numbers.reshape(shape), (numbers.shape[0], *type_of(y).shape))

    return _contracted(x, tuple(contracted[slot]), count, placed)


def _contracted(
    x: Curved, axes: tuple[int, ...], count: int, placed: Callable[[np.ndarray], np.ndarray]
) -> Arranged | None:
    """An operand whose elements along `axes` are added up, and so need the same rows."""
    numbers = _numbers(x)
    along = tuple(1 + d for d in axes)
    apart = np.moveaxis(numbers, along, range(1, 1 + len(axes)))
    flat = apart.reshape(-1, *apart.shape[1 + len(axes) :])
    joint = _joint([flat], count)
    if joint is None:
        return None
    full = np.broadcast_to(
        np.expand_dims(joint.numbers, along), (joint.numbers.shape[0], *numbers.shape[1:])
    )
    return [x.over(RowIndex(full))], [RowIndex(placed(joint.numbers))]


def _joint(numbers: Sequence[np.ndarray], count: int) -> RowIndex | None:
    """Rows for all that any of them has rows for, unless that is half of all inputs or more."""
    stacked = np.sort(np.concatenate(numbers), 0)
    new = np.concatenate([stacked[:1] >= 0, stacked[1:] != stacked[:-1]]) & (stacked >= 0)
    slots = np.cumsum(new, 0) - 1
    size = int(slots.max(initial=0)) + 1
    if 2 * size > count:
        return None
    joint = np.full((size, *stacked.shape[1:]), -1, np.int32)
    at = np.nonzero(new)
    joint[(slots[at], *at[1:])] = stacked[at]
    return RowIndex(joint)


def _numbers(x: Curved) -> np.ndarray:
    assert x.index is not None
    return x.index.numbers


_FINDING: dict[str, Callable[[ActiveEquation, Sequence[Curved], int], Arranged | None]] = {
    **dict.fromkeys((*ELEMENTWISE, function_call.name), _elementwise),
    **dict.fromkeys(_MOVING, _moving),
    "concatenate": _concatenated,
    "reduce_sum": _summed,
    "dot_general": _product,
}
