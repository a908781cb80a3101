"""What is alive at once, step by step, in all and by operator."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TYPE_CHECKING


if TYPE_CHECKING:
    from .report import Buffer


class BytesByStep(NamedTuple):
    """What one group of buffers takes, step by step."""

    label: str
    bytes: tuple[int, ...]


def at_once(buffers: Iterable[Buffer], end: int) -> list[int]:
    """What buffers take together in each step, of which the last is `end`."""
    changes = [0] * (end + 2)
    for x in buffers:
        changes[x.first] += x.bytes
        changes[x.last + 1] -= x.bytes
    return list(itertools.accumulate(changes))[: end + 1]


def series_of(
    buffers: Sequence[Buffer], at_peak: Sequence[Buffer], end: int, largest: int
) -> list[BytesByStep]:
    """What arguments take, what the operators that make the most of the peak do, and the others.

    - `largest`: how many operators stand by themselves; those of each pass do.
    """
    totals: dict[str, int] = {}
    for x in at_peak:
        if (label := _label(x)) not in _INPUTS:
            totals[label] = totals.get(label, 0) + x.bytes
    named = sorted(totals, key=lambda label: -totals[label])[:largest]
    labels = (*_INPUTS, *named)
    groups: dict[str, list[Buffer]] = {label: [] for label in (*labels, _OTHERS)}
    for x in buffers:
        label = _label(x)
        groups[label if label in labels else _OTHERS].append(x)
    found = [BytesByStep(label, tuple(at_once(some, end))) for label, some in groups.items()]
    return [series for series in found if any(series.bytes)]


_INPUTS, _OTHERS = ("arguments", "constants"), "others"


def _label(x: Buffer) -> str:
    if x.kind in ("argument", "constant"):
        return f"{x.kind}s"
    return f"{x.operator}, {x.phase}" if x.phase else x.operator
