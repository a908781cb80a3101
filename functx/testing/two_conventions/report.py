"""What `conventions` found: for each point and argument at which the gradients part, a line."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Hashable
from typing import Any

import numpy as np

from functx._transforms.programs.grouping import grouped
from functx.testing.hiding import of_findings

from .switching import SwitchedCall


__tracebackhide__ = of_findings

_WIDTH = 80


class ConventionsError(AssertionError):
    """What `ConventionsReport.raise_if_parted` raises; its message is the report."""


@dataclasses.dataclass(frozen=True, eq=False)
class ConventionsLine:
    """A point and an argument at which the gradients part.

    - `point`: the name of the point, `"zeros"`; `what`: the argument, `"args[0]"`, or in forward
      mode the output, `"output 0"`.
    - `difference`: the largest of all elements; infinite where one is NaN and the other is not.
    - `index`: the element that has it.
    - `pytorch`, `jax`: the gradients in both conventions, as NumPy's arrays.
    - `calls`: the calls that are responsible, each a `SwitchedCall`; none where only several
      together are.
    """

    point: str
    what: str
    difference: float
    index: tuple[int, ...]
    pytorch: np.ndarray
    jax: np.ndarray
    calls: tuple[SwitchedCall, ...]

    def __str__(self) -> str:
        return "\n".join([*_wrapped(self.point, 0), *self._rows()])

    def _rows(self) -> list[str]:
        """All but the point, which others may share."""
        element = self.what + (str(list(self.index)) if self.index else "")
        numbers = [f"{self.difference:.3g}"]
        numbers += [_number(x[self.index]) for x in (self.pytorch, self.jax)]
        calls = ", ".join(dict.fromkeys(map(str, self.calls))) or "several calls together"
        return [*_row(element, *numbers), *_wrapped(calls, 4)]


def _row(element: str, *numbers: str) -> list[str]:
    """A row of the table; a long name has a line of its own."""
    off, theirs, jaxs = numbers
    shown = f"{off:>9}  {theirs:>18}  {jaxs:>18}"
    if len(element) <= 26:
        return [f"  {element:<26} {shown}"]
    return [*_wrapped(element, 2), f"  {'':<26} {shown}"]


def _seen(line: ConventionsLine) -> Hashable:
    """What lines have in common that are one in the table."""
    return (
        line.what,
        line.index,
        line.calls,
        *(_number(x[line.index]) for x in (line.pytorch, line.jax)),
    )


def _number(x: Any) -> str:
    if np.iscomplexobj(x):
        sign = "-" if np.signbit(x.imag) else "+"
        return f"{float(x.real):.4g}{sign}{abs(float(x.imag)):.4g}j"
    return f"{float(x) + 0.0:.4g}"  # -0 is 0


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 2),
        break_long_words=True,
        break_on_hyphens=False,
    )


@dataclasses.dataclass(frozen=True, eq=False)
class ConventionsReport:
    """Where the gradients of a function part in two conventions; `str` of it is a table.

    It is true if they part anywhere. The table names the points that share a row.

    - `call`: what was called, `"loss(f32[3])"`.
    - `lines`: a `ConventionsLine` for each point and argument at which they part.
    - `points`: the names of all points at which gradients were held against each other.
    - `left_out`: pairs of the name of a point and why it was left out.
    - `without_counterpart`: operators with kinks that JAX has no function for, and primitives of
      JAX's with kinks that no operator stands for. They are taken for the same in both conventions.
    """

    call: str
    lines: tuple[ConventionsLine, ...]
    points: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    without_counterpart: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lines)

    @property
    def operators(self) -> tuple[str, ...]:
        """The names of all calls that are responsible anywhere."""
        return tuple(dict.fromkeys(call.name for line in self.lines for call in line.calls))

    def __str__(self) -> str:
        parted = len({line.point for line in self.lines})
        said = f"gradients part at {parted} of {len(self.points)} points"
        if not self:
            said = f"gradients agree at all of {len(self.points)} points"
        rows = _wrapped(f"conventions of {self.call}: {said}", 0)
        if self:
            rows += _row("", "off by", "PyTorch", "JAX")
        for alike in grouped(self.lines, _seen):
            names = ", ".join(dict.fromkeys(line.point for line in alike))
            rows += [*_wrapped(names, 0), *alike[0]._rows()]
        why: dict[str, list[str]] = {}
        for name, reason in self.left_out:
            why.setdefault(reason, []).append(name)
        for reason, names in why.items():
            rows += _wrapped(f"left out, {reason}: {', '.join(names)}", 0)
        if self.without_counterpart:
            names = ", ".join(self.without_counterpart)
            rows += _wrapped(f"taken for the same, without a counterpart: {names}", 0)
        return "\n".join(rows)

    def __repr__(self) -> str:
        return f"<conventions of {self.call}: {'parted' if self else 'agree'}>"

    def raise_if_parted(self) -> None:
        """Raises `ConventionsError`, an AssertionError, with the report if gradients part."""
        if self:
            raise ConventionsError(str(self))
