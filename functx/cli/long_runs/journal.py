"""The results of checks on a file as they come, a line each, with a digest of what they rest on.

A run that was stopped goes on where it was, and one that was finished is the record of a proof: run
again, it runs what has changed since. A result stands as long as the digest of its entry does.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args

from functx.cli.runner import Cell, Plan, Result, Status
from functx.cli.usage import UsageError
from functx.testing import op_db
from functx.testing.checks.source_digests import source_digest

from .journal_file import head_of, JournalFile, lines_after, parsed


FORMAT = "functx check journal"
SOURCE = "source"  # of a line: the digest


def recorded(path: Path, plan: Plan) -> list[Result]:
    """The results in a journal that stand; a `UsageError` if they are of another kind of run.

    One does not stand if the source of its operator or of its entry has changed since.
    """
    lines = enumerate(lines_after(path, _head(plan)), 2)
    every = [_result(path, number, line) for number, line in lines]
    entries = {info.id: info for info in op_db} | {info.id: info for info in plan.infos}
    stands = lambda r, source: (
        r.operator in entries and source == source_digest(entries[r.operator])
    )
    return [result for result, source in every if stands(result, source)]


def _head(plan: Plan) -> dict[str, Any]:
    named = "device", "profile", "samples", "x64"
    return head_of(FORMAT, **{name: getattr(plan, name) for name in named})


def earlier_results(plan: Plan, journal: Path | None, done: Iterable[Path]) -> dict[Cell, Result]:
    """The results of earlier runs that stand: all of other parts, of this part those that pass.

    What failed in this part is run again, since it may be mended by now.
    """
    known = {result.cell: result for path in done for result in recorded(path, plan)}
    if journal is not None:
        known |= {r.cell: r for r in recorded(journal, plan) if not r.failing}
    return known


# What a field of a result holds, by the type that it is declared with.
_HELD: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    "str": ("a text", lambda x: isinstance(x, str)),
    "int": ("a whole number from 0 on", lambda x: type(x) is int and x >= 0),
    "float": ("a number from 0 on", lambda x: type(x) in (int, float) and x >= 0),
    "Status": (f"one of {', '.join(get_args(Status))}", lambda x: x in get_args(Status)),
}


def _result(path: Path, number: int, line: str) -> tuple[Result, Any]:
    """The result of a line, and the digest beside it."""
    found = parsed(line)
    source = found.pop(SOURCE, None) if found is not None else None
    if objection := "is no JSON object" if found is None else _objection(found):
        remedy = "delete the line, and its cell is run again"
        raise UsageError(f"{path}, line {number}, {objection}; {remedy}")
    return Result(**found or {}), source


def _objection(found: dict[str, Any]) -> str:
    """Why the values of a line are no result; empty if they are one."""
    fields = {field.name: field for field in dataclasses.fields(Result)}
    for name in found:
        if name not in fields:
            return f"has {name!r}, which no result has"
    for name, field in fields.items():
        value = found.get(name, field.default)
        if value is dataclasses.MISSING:
            return f"has no {name!r}"
        what, holds = _HELD[field.type]
        if not holds(value):
            return f"must have {what} as {name!r}, got {value!r}"
    return ""


def open_journal(
    path: Path | None, plan: Plan
) -> contextlib.AbstractContextManager[Journal | None]:
    """A journal that a `with` statement closes; None without a path."""
    if path is None:
        return contextlib.nullcontext()
    return contextlib.closing(Journal(path, plan))


class Journal(JournalFile):
    """Adds results to a journal."""

    def __init__(self, path: Path, plan: Plan):
        self._entries = {info.id: info for info in plan.infos}
        super().__init__(path, _head(plan))

    def add(self, result: Result) -> None:
        """Writes a result and the digest of its entry."""
        source = source_digest(self._entries[result.operator])
        self.write(dataclasses.asdict(result) | {SOURCE: source})
