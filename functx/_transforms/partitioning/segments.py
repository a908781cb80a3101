"""The parts of a backward pass, each of which computes again what it needs when it begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .cutting import Cut
from .linearized import Linearized, variables
from .work import total_bytes


class Segment(NamedTuple):
    """A part of a linear pass.

    - `again`: the numbers of the equations of the forward pass that it computes again, in order.
    - `start`, `stop`: which equations of the linear pass it runs.
    - `bytes`: what the values that it computes again, and then reads, take together.
    """

    again: tuple[int, ...]
    start: int
    stop: int
    bytes: int


def segments(derivative: Linearized, cut: Cut) -> list[Segment]:
    """The linear pass in as many parts as there can be, none larger than the largest must be.

    No equation is computed again by two of them.
    """
    uses = _uses(derivative, cut)
    return list(_joined(list(_apart(derivative, cut, uses))))


def _uses(derivative: Linearized, cut: Cut) -> dict[int, tuple[int, int]]:
    """The first and the last equation of the linear pass that needs what is computed again."""
    places: dict[object, list[int]] = {}
    for j, eqn in enumerate(derivative.linear):
        for x in variables(eqn.invars):
            places.setdefault(x, []).append(j)
    last = len(derivative.linear) - 1
    for x in variables(derivative.out_tangents):
        places.setdefault(x, []).append(last)
    kept, found = set(cut.kept), dict[int, tuple[int, int]]()
    for i in reversed(cut.again):
        eqn = derivative.forward.eqns[i]
        used = [j for x in eqn.outvars if x not in kept for j in places.get(x, ())]
        if used:
            found[i] = min(used), max(used)
            for x in variables(eqn.invars):
                places.setdefault(x, []).extend(found[i])
    return found


def _apart(derivative: Linearized, cut: Cut, uses: dict[int, tuple[int, int]]) -> Iterator[Segment]:
    """The linear pass divided wherever nothing that is computed again is needed on both sides."""
    count = len(derivative.linear)
    crossing = np.zeros(count + 1, int)  # how much that is computed again is needed on both sides
    for first, last in uses.values():
        crossing[first + 1] += 1
        crossing[last + 1 :][:1] -= 1
    borders = [0, *(j for j, n in enumerate(np.cumsum(crossing)) if not n and 0 < j < count), count]
    again: dict[int, list[int]] = {}
    starts = np.array(borders[:-1])
    for i in cut.again:
        if i in uses:
            place = int(np.searchsorted(starts, uses[i][0], side="right")) - 1
            again.setdefault(place, []).append(i)
    needed, kept = set(derivative.needed), set(cut.kept)
    for k, (start, stop) in enumerate(zip(borders, borders[1:], strict=False)):
        here = again.get(k, [])
        made = [x for i in here for x in derivative.forward.eqns[i].outvars]
        read = [x for x in made if x in needed and x not in kept]
        yield Segment(tuple(here), start, stop, total_bytes(read))


def _joined(parts: Sequence[Segment]) -> Iterator[Segment]:
    """Neighbours as one, as long as they stay below the largest."""
    largest = max((part.bytes for part in parts), default=0)
    whole: Segment | None = None
    for part in parts:
        if whole is None:
            whole = part
        elif whole.bytes + part.bytes <= largest:
            both = tuple(sorted((*whole.again, *part.again)))
            whole = Segment(both, whole.start, part.stop, whole.bytes + part.bytes)
        else:
            yield whole
            whole = part
    if whole is not None:
        yield whole
