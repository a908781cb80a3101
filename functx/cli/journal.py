"""Results on a file as they come, a line each: a run that was stopped goes on where it was."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path
from typing import Any

import jax

import functx

from .runner import Plan, Result
from .selection import UsageError


FORMAT = "functx check journal"
VERSION = 1


def head_of(plan: Plan) -> dict[str, Any]:
    """The first line: what the results of a plan depend on, besides the cell."""
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
    """The results in a journal, or a `UsageError` where they are of another kind of run.

    A line that was being written when the run was killed is no result.
    """
    lines = _whole_lines(path)
    if not lines:
        return []
    head, wanted = _parsed(path, lines[0]), head_of(plan)
    if head.get("format") != FORMAT:
        raise _no_journal(path)
    for name, here in wanted.items():
        if head.get(name) != here:
            raise UsageError(
                f"{path} was written with {name} {head.get(name)!r}, this run has {here!r}; "
                "name another journal"
            )
    try:
        return [Result(**_parsed(path, line)) for line in lines[1:]]
    except TypeError:  # of fields that a result has not, or lacks
        raise _no_journal(path) from None


def _whole_lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    return text.split("\n")[:-1]


def _parsed(path: Path, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise _no_journal(path)
    return found


def _no_journal(path: Path) -> UsageError:
    return UsageError(f"{path} is no journal of functx check; name a new file")


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
        """Ends it; what could not be written is tried once more."""
        with contextlib.suppress(OSError):
            self._file.close()
