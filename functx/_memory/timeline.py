"""What is alive at once, step by step, in all and by operator."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TYPE_CHECKING

from functx._transforms.programs.labels import Line


if TYPE_CHECKING:
    from .report import Buffer


INPUTS, OTHERS = ("arguments", "constants"), "others"
UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "bytes"))


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
        if (label := label_of_series(x)) not in INPUTS:
            totals[label] = totals.get(label, 0) + x.bytes
    named = sorted(totals, key=lambda label: -totals[label])[:largest]
    labels = (*INPUTS, *named)
    groups: dict[str, list[Buffer]] = {label: [] for label in (*labels, OTHERS)}
    for x in buffers:
        label = label_of_series(x)
        groups[label if label in labels else OTHERS].append(x)
    found = [BytesByStep(label, tuple(at_once(some, end))) for label, some in groups.items()]
    return [series for series in found if any(series.bytes)]


def label_of_series(x: Buffer) -> str:
    """What a picture calls the group of a buffer."""
    if x.kind in ("argument", "constant"):
        return f"{x.kind}s"
    return f"{x.operator}, {x.phase}" if x.phase else x.operator


def unit_of(size: int) -> tuple[int, str]:
    """The unit in which a size is shown, in bytes, and its name."""
    return next(pair for pair in UNITS if size >= pair[0] or pair[0] == 1)


def sized(size: int) -> str:
    """`15.0 MiB`."""
    scale, unit = unit_of(size)
    return f"{size:,} bytes" if scale == 1 else f"{size / scale:,.1f} {unit}"


def short(name: str) -> str:
    """An operator without its namespace."""
    return name.rpartition(".")[2] if name.replace(".", "").isidentifier() else name


def place(line: Line | None) -> str:
    """`model.py:3`, in a notebook `cell:3`, or nothing."""
    if line is None:
        return ""
    path = Path(line.file)
    return f"{'cell' if path.parent.name.startswith('ipykernel_') else path.name}:{line.line}"
