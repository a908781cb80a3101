"""What `opcheck` found: a line for each check, and the smallest case of the first that failed."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import Any, Literal, TypeAlias

from functx.testing.hiding import of_findings


__tracebackhide__ = of_findings


_ROWS = 6  # of a message, besides the first: more is in `said`, and of small arrays in `smallest`

LineVerdict: TypeAlias = Literal["passed", "failed", "left out"]


class OpcheckError(AssertionError):
    """What `OpcheckReport.raise_if_failed` raises; its message is the report."""


def _wrapped(text: str, indent: int = 0) -> str:
    return textwrap.fill(
        text,
        100,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )


@dataclasses.dataclass(frozen=True)
class OpcheckLine:
    """What came of one check.

    - `check`: its name, as in `functx.testing.CHECKS`, or one of `call`, `repeat`, `forward`,
      `reverse`, `gradcheck`, `gradgradcheck`.
    - `verdict`: `"passed"`, `"failed"` or `"left out"`.
    - `said`: what went wrong, or why it was left out.
    - `remedy`: what to do about it.
    """

    check: str
    verdict: LineVerdict
    said: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        first, *more = self.said.splitlines() or [""]
        rows = [f"{self.check:<19} {self.verdict.upper() if self.failed else self.verdict}"]
        if first:
            rows[0] = f"{rows[0]:<29} {first}"
        if self.failed:
            shown = more if len(more) <= _ROWS else [*more[:_ROWS], "..."]
            rows += [f"{'':<30}{row}" for row in shown]
        if self.remedy:
            rows.append(_wrapped(f"remedy: {self.remedy}", indent=30))
        return "\n".join(row.rstrip() for row in rows)

    @property
    def failed(self) -> bool:
        """Whether the check found something wrong."""
        return self.verdict == "failed"


@dataclasses.dataclass(frozen=True, eq=False)
class SmallestCase:
    """Arguments of the smallest shapes and simplest values at which `check` still fails.

    - `args`, `kwargs`: to call the function with.
    - `arrays`: the arrays among them by path, written out.
    - `said`: what the check says there.
    """

    check: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    arrays: tuple[str, ...]
    said: str

    def __str__(self) -> str:
        rows = [f"smallest case found in which `{self.check}` fails:", *self.arrays]
        return "\n  ".join([*rows, *self.said.splitlines()])


@dataclasses.dataclass(frozen=True)
class OpcheckReport:
    """What came of all checks of one call; `str` of it is a table.

    - `call`: what was checked, `"swish(f32[3], 1.5)"`.
    - `lines`: an `OpcheckLine` for each check, from the simplest to the deepest composition.
    - `smallest`: a `SmallestCase` of the first that failed, or None.
    """

    call: str
    lines: tuple[OpcheckLine, ...]
    smallest: SmallestCase | None = None

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.failures

    @property
    def failures(self) -> tuple[OpcheckLine, ...]:
        """The lines of the checks that failed."""
        return tuple(line for line in self.lines if line.failed)

    @property
    def left_out(self) -> tuple[OpcheckLine, ...]:
        """The lines of the checks that were not made, each with the reason."""
        return tuple(line for line in self.lines if line.verdict == "left out")

    def __str__(self) -> str:
        made = len(self.lines) - len(self.left_out)
        counts = f"{made} check{'s' * (made != 1)}, {len(self.failures)} failed, "
        counts += f"{len(self.left_out)} left out"
        parts = [f"opcheck of {self.call}: {counts}"]
        parts += [str(line) for line in self.lines if line.verdict != "left out"]
        why: dict[str, list[str]] = {}
        for line in self.left_out:
            why.setdefault(line.said, []).append(line.check)
        parts += [
            _wrapped(f"left out, {said}: {', '.join(checks)}") for said, checks in why.items()
        ]
        return "\n".join(parts if self.smallest is None else [*parts, str(self.smallest)])

    def __repr__(self) -> str:
        failed = f"failed: {', '.join(line.check for line in self.failures)}"
        return f"<opcheck of {self.call}: {'passed' if self.passed else failed}>"

    def raise_if_failed(self) -> None:
        """Raises `OpcheckError`, an AssertionError, with the report if a check failed."""
        if not self.passed:
            raise OpcheckError(str(self))
