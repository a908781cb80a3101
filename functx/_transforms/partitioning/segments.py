"""The parts of a backward pass, each of which computes again what it needs when it begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .cutting import Cut
from .numbered import NumberedDerivative


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


def segments(derivative: NumberedDerivative, cut: Cut) -> list[Segment]:
    """The linear pass in as many parts as there can be, none larger than the largest must be.

    No equation is computed again by two of them.
    """
    uses = _uses(derivative, cut)
    return list(_joined(list(_apart(derivative, cut, uses))))


def _uses(derivative: NumberedDerivative, cut: Cut) -> dict[int, tuple[int, int]]:
    """The first and the last equation of the linear pass that needs what is computed again."""
    kept = set(cut.kept)
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for j, read in enumerate(derivative.later_reads):
        for n in read:
            first.setdefault(n, j)
            last[n] = j
    found: dict[int, tuple[int, int]] = {}
    for i in reversed(cut.again):
        used = [n for n in derivative.outputs[i] if n in first and n not in kept]
        if used:
            here = min(first[n] for n in used), max(last[n] for n in used)
            found[i] = here
            for n in derivative.reads[i]:
                first[n] = min(first.get(n, here[0]), here[0])
                last[n] = max(last.get(n, here[1]), here[1])
    return found


def _apart(
    derivative: NumberedDerivative, cut: Cut, uses: dict[int, tuple[int, int]]
) -> Iterator[Segment]:
    """The linear pass divided wherever nothing that is computed again is needed on both sides."""
    count = len(derivative.later_reads)
    crossing = np.zeros(count + 1, int)  # how much that is computed again is needed on both sides
    for first, last in uses.values():
        crossing[first + 1] += 1
        crossing[last + 1] -= 1
    inside = np.flatnonzero(np.cumsum(crossing)[1:count] == 0) + 1
    kept, needed = set(cut.kept), set(derivative.needed)
    starts = np.concatenate([[0], inside])
    places = np.searchsorted(starts, [uses[i][0] for i in cut.again if i in uses], side="right") - 1
    again: dict[int, list[int]] = {0: []}
    for i, place in zip((i for i in cut.again if i in uses), places.tolist(), strict=True):
        again.setdefault(place, []).append(i)
    # Parts that compute nothing again belong to the part before them.
    borders = [int(starts[place]) for place in sorted(again)]
    for (_, here), start, stop in zip(
        sorted(again.items()), borders, [*borders[1:], count], strict=True
    ):
        made = (n for i in here for n in derivative.outputs[i])
        read = [n for n in made if n in needed and n not in kept]
        yield Segment(tuple(here), start, stop, int(derivative.bytes[read].sum()))


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
