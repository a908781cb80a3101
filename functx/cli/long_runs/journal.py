"""Results on a file as they come, a line each: a run that was stopped goes on where it was."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args

import jax

import functx
from functx.cli.runner import Cell, Plan, Result, Status
from functx.cli.usage import UsageError


FORMAT = "functx check journal"
VERSION = 1


def head_of(plan: Plan) -> dict[str, Any]:
    """The journal's first line: the settings on which a plan's results depend."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "functx": functx.__version__,
        "jax": jax.__version__,
        "device": plan.device,
        "profile": plan.profile,
        "samples": plan.samples,
        "x64": plan.x64,
    }


def recorded(path: Path, plan: Plan) -> list[Result]:
    """The results in a journal; a `UsageError` if they are of another kind of run.

    A line that was being written when the run was killed is no result.
    """
    lines = _whole_lines(path)
    if not lines:
        return []
    head, wanted = _parsed(lines[0]), head_of(plan)
    if head is None or head.get("format") != FORMAT:
        raise _no_journal(path)
    for name, here in wanted.items():
        if head.get(name) != here:
            raise UsageError(
                f"{path} was written with {name} {head.get(name)!r}, this run has {here!r}; "
                "name another journal"
            )
    return [_result(path, number, line) for number, line in enumerate(lines[1:], 2)]


def earlier_results(plan: Plan, journal: Path | None, done: Iterable[Path]) -> dict[Cell, Result]:
    """The results of earlier runs that stand: all of other parts, of this part those that pass.

    What failed in this part is run again, since it may be mended by now.
    """
    known = {result.cell: result for path in done for result in recorded(path, plan)}
    if journal is not None:
        known |= {r.cell: r for r in recorded(journal, plan) if not r.failing}
    return known


def _whole_lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    begun = json.dumps({"format": FORMAT})[:-1]  # what is longer may be half a head, and is cut off
    if "\n" not in text and text[: len(begun)] != begun[: len(text)]:
        raise _no_journal(path)
    return text.split("\n")[:-1]


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _no_journal(path: Path) -> UsageError:
    return UsageError(f"{path} is no journal of functx check; name a new file")


# What a field of a result holds, by the type that it is declared with.
_HELD: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    "str": ("a text", lambda x: isinstance(x, str)),
    "int": ("a whole number from 0 on", lambda x: type(x) is int and x >= 0),
    "float": ("a number from 0 on", lambda x: type(x) in (int, float) and x >= 0),
    "Status": (f"one of {', '.join(get_args(Status))}", lambda x: x in get_args(Status)),
}


def _result(path: Path, number: int, line: str) -> Result:
    found = _parsed(line)
    if objection := "is no JSON object" if found is None else _objection(found):
        remedy = "delete the line, and its cell is run again"
        raise UsageError(f"{path}, line {number}, {objection}; {remedy}")
    return Result(**found or {})


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


class Journal:
    """Adds results to a file, which is begun if it is not there.

    From where it cannot be written on, it adds no more, and `error` says why.
    """

    def __init__(self, path: Path, plan: Plan):
        whole = "".join(f"{line}\n" for line in _whole_lines(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.error: OSError | None = None
        self._file = path.open("a", encoding="utf-8")
        self._file.truncate(len(whole.encode()))
        if not whole:
            self._write(head_of(plan))

    def add(self, result: Result) -> None:
        """Writes a line."""
        self._write(dataclasses.asdict(result))

    def _write(self, line: dict[str, Any]) -> None:
        if self.error is not None:
            return
        try:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()  # a process that is killed takes its buffers along
        except OSError as error:
            self.error = error

    def close(self) -> None:
        """Closes the file; lines that could not be written are tried once more."""
        with contextlib.suppress(OSError):
            self._file.close()
