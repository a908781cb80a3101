"""What a function needs of memory, value by value and step by step."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from functx._transforms.programs.grouping import common_name, grouped, numbers_apart, times
from functx._transforms.programs.labels import Line

from .makers import Phase
from .page import write_page
from .plotting import plotted
from .timeline import place, short


_WIDTH = 80  # columns
BufferKind = Literal["argument", "constant", "output", "temporary"]


@dataclasses.dataclass(frozen=True)
class Buffer:
    """A value that takes memory, and from when to when.

    - `kind`: `"argument"`, `"constant"`, `"output"` or `"temporary"`.
    - `type`: its dtype and shape, `"f32[8,4]"`; `bytes`: what it takes.
    - `operator`: the operator, function or primitive that computes it; of an argument its path,
      `"args[0]['w']"`.
    - `line`: the line of the user's code that did, with `file`, `line` and `function`, or None.
    - `phase`: `"forward"`, `"backward"`, or `"recomputed"` by the backward pass; `""` outside of
      derivatives.
    - `inside`: the loops and branches around it, from the outside: `"scan, cond"`.
    - `first`, `last`: the first and the last step in which it is alive.
    """

    kind: BufferKind
    type: str
    bytes: int
    operator: str
    line: Line | None
    phase: Phase
    inside: str
    first: int
    last: int

    @property
    def where(self) -> str:
        """The pass, and the loops around: `"backward, scan"`."""
        return ", ".join(filter(None, (self.phase, self.inside)))


@dataclasses.dataclass(frozen=True)
class MemoryStep:
    """What one step of a program does, and how many bytes are alive then.

    - `operator`, `line`, `phase`, `inside`: as of a `Buffer` that it makes.
    - `bytes`: what is alive while it runs.
    """

    operator: str
    line: Line | None
    phase: Phase
    inside: str
    bytes: int

    def __str__(self) -> str:
        """`exp (forward, in scan), model.py:3`."""
        around = ", ".join(filter(None, (self.phase, self.inside and f"in {self.inside}")))
        name = f"{self.operator} ({around})" if around else self.operator
        return f"{name}, {place(self.line)}" if self.line else name


@dataclasses.dataclass(frozen=True)
class CompiledMemory:
    """What a compiled program needs, by its compiler.

    - `platform`: what it is compiled for: `"cpu"`, `"gpu"`.
    - `argument_bytes`, `output_bytes`, `temporary_bytes`: what these take.
    - `alias_bytes`: how much of the outputs lies in the memory of donated arguments.
    """

    platform: str
    argument_bytes: int
    output_bytes: int
    temporary_bytes: int
    alias_bytes: int

    @property
    def total_bytes(self) -> int:
        """Arguments, outputs and temporaries together."""
        return self.argument_bytes + self.output_bytes + self.temporary_bytes - self.alias_bytes


@dataclasses.dataclass(frozen=True)
class MemoryReport:
    """What `functx.memory.analyze` returns; `str` of it is a table of 80 columns.

    - `name`: what the function is called.
    - `argument_bytes`, `constant_bytes`, `output_bytes`: what these take; constants are arrays that
      the function closes over.
    - `temporary_bytes`: the most that all else takes at once.
    - `peak_bytes`: the most that is alive at once, all of these together; `peak_step`: when.
    - `steps`: a `MemoryStep` for each thing that the program does, in order: of loops one step, of
      `cond` one branch after the other.
    - `buffers`: a `Buffer` for each value, in the order of making.
    - `compiled`: the compiler's own figures, a `CompiledMemory`, or None.
    """

    name: str
    argument_bytes: int
    constant_bytes: int
    output_bytes: int
    temporary_bytes: int
    peak_bytes: int
    peak_step: int
    steps: tuple[MemoryStep, ...]
    buffers: tuple[Buffer, ...]
    compiled: CompiledMemory | None = None

    def alive(self, step: int) -> tuple[Buffer, ...]:
        """The buffers that are alive in a step, the largest first.

        - `step`: the number of a step, from 0.
        """
        here = [x for x in self.buffers if x.first <= step <= x.last and x.bytes]
        return tuple(sorted(here, key=lambda x: -x.bytes))

    @property
    def at_peak(self) -> tuple[Buffer, ...]:
        """The buffers that are alive when the most is, the largest first."""
        return self.alive(self.peak_step)

    @property
    def largest(self) -> tuple[Buffer, ...]:
        """The buffers at the peak that the function makes: outputs and temporaries."""
        return tuple(x for x in self.at_peak if x.kind in ("output", "temporary"))

    def table(self, rows: int = 12) -> str:
        """The report as text of 80 columns.

        - `rows`: how many lines are shown of the buffers at the peak, alike ones in one line.
        """
        lines = [f"{self.name}: at most {self.peak_bytes:,} bytes at once"]
        lines += [
            f"{self.argument_bytes:>15,}  arguments",
            *([f"{self.constant_bytes:>15,}  constants"] if self.constant_bytes else []),
            f"{self.output_bytes:>15,}  outputs",
            f"{self.temporary_bytes:>15,}  temporaries, at most",
        ]
        if self.steps:
            lines.append(f"alive at the peak, step {self.peak_step + 1} of {len(self.steps)}")
            lines.append(_cut(f"{'':>17}{self.steps[self.peak_step]}", _WIDTH))
        lines += buffer_rows(self.at_peak, rows)
        if (compiled := self.compiled) is not None:
            lines += [
                f"compiled for {compiled.platform}: {compiled.total_bytes:,} bytes",
                f"{compiled.argument_bytes:>15,}  arguments",
                f"{compiled.output_bytes:>15,}  outputs",
                f"{compiled.temporary_bytes:>15,}  temporaries",
            ]
            if compiled.alias_bytes:
                lines.append(f"{compiled.alias_bytes:>15,}  of the outputs in donated arguments")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()

    def plot(self, ax: Any = None, *, largest: int = 6) -> Any:
        """Draws what is alive, step by step; returns Matplotlib's `Axes`.

        - `ax`: the axes to draw into, by default new ones.
        - `largest`: how many operators have a colour of their own; what others make is one.

        Matplotlib is imported by the call: `pip install 'functx[cli]'` brings it.
        """
        return plotted(self, ax, largest)

    def save_html(self, path: str | Path) -> Path:
        """Writes a page that needs no other file, and returns its path.

        - `path`: where to; a folder that is missing is made.

        The page shows the timeline, what is alive at each step, and the table of buffers. Jinja is
        imported by the call: `pip install 'functx[cli]'` brings it.
        """
        return write_page(self, alike(self.buffers), alike(self.at_peak), Path(path))


def _kind(one: Buffer) -> tuple[Any, ...]:
    """What buffers of one row have in common; paths in one argument may differ in numbers."""
    argument, _, path = one.operator.partition("]")
    name = (argument, numbers_apart(path)) if one.kind == "argument" else one.operator
    return one.type, one.kind == "argument", name, one.line, one.phase, one.inside


@dataclasses.dataclass(frozen=True)
class AlikeBuffers:
    """Buffers that differ in nothing that a table shows."""

    buffers: tuple[Buffer, ...]

    @property
    def bytes(self) -> int:
        """What they take together."""
        return sum(x.bytes for x in self.buffers)

    @property
    def type(self) -> str:
        """`3 x f32[8]`."""
        return times(len(self.buffers), self.buffers[0].type)

    @property
    def name(self) -> str:
        """The operator, or the path of an argument."""
        return common_name([x.operator for x in self.buffers]) or self.buffers[0].kind

    @property
    def where(self) -> str:
        """The pass, and the loops around."""
        return self.buffers[0].where

    @property
    def line(self) -> Line | None:
        """The line of the user's code."""
        return self.buffers[0].line


def alike(buffers: Iterable[Buffer]) -> list[AlikeBuffers]:
    """Buffers in rows, the largest row first."""
    rows = [AlikeBuffers(tuple(some)) for some in grouped(buffers, _kind)]
    return sorted(rows, key=lambda row: -row.bytes)


def buffer_rows(buffers: Sequence[Buffer], rows: int) -> list[str]:
    """A table of buffers, each row at most 80 columns wide."""
    found = alike(buffers)
    cells = [("bytes", "buffer", "operator", "pass", "line")]
    cells += [(f"{x.bytes:,}", x.type, short(x.name), x.where, place(x.line)) for x in found[:rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    widths[0] = max(widths[0], 15)
    while sum(widths) > _WIDTH - 2 * (len(widths) - 1):
        widths[2 + widths[2:].index(max(widths[2:]))] -= 1  # types are not cut
    lines: list[str] = []
    for row in cells:
        first, *others = (_cut(cell, n) for cell, n in zip(row, widths, strict=True))
        others = [cell.ljust(n) for cell, n in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.rjust(widths[0]), *others]).rstrip())
    if rest := found[rows:]:
        count = sum(len(x.buffers) for x in rest)
        lines.append(f"{sum(x.bytes for x in rest):>15,}  in {count} others")
    return lines


def _cut(text: str, width: int) -> str:
    """The end of a long text, which tells lines and operators apart."""
    return text if len(text) <= width else f"..{text[len(text) - width + 2 :]}"
