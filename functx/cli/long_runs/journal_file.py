"""A file with a head and a line for each result: what a stopped run had written stands."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import jax

import functx
from functx.cli.usage import UsageError


VERSION = 2


def head_of(form: str, **settings: Any) -> dict[str, Any]:
    """The first line of a file in a format: the versions and settings on which results depend."""
    versions = {"version": VERSION, "functx": functx.__version__, "jax": jax.__version__}
    return {"format": form, **versions, **settings}


def lines_after(path: Path, wanted: dict[str, Any]) -> list[str]:
    """The lines below a head; a `UsageError` if the head is not the one that is wanted.

    A line that was being written when the run was killed is none.
    """
    lines = whole_lines(path, wanted["format"])
    if not lines:
        return []
    head = parsed(lines[0])
    if head is None or head.get("format") != wanted["format"]:
        raise _no_journal(path, wanted["format"])
    for name, here in wanted.items():
        if head.get(name) != here:
            raise UsageError(
                f"{path} was written with {name} {head.get(name)!r}, this run has {here!r}; "
                "name another journal"
            )
    return lines[1:]


def whole_lines(path: Path, form: str) -> list[str]:
    """The lines that were written whole; none if there is no file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    begun = json.dumps({"format": form})[:-1]  # what is longer may be half a head, and is cut off
    if "\n" not in text and text[: len(begun)] != begun[: len(text)]:
        raise _no_journal(path, form)
    return text.split("\n")[:-1]


def parsed(line: str) -> dict[str, Any] | None:
    """The JSON object of a line; None if it is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _no_journal(path: Path, form: str) -> UsageError:
    return UsageError(f"{path} is no journal of {form.removesuffix(' journal')}; name a new file")


class JournalFile:
    """Adds lines to a file, which is begun with a head if it is not there.

    From where it cannot be written on, it adds no more, and `error` says why.
    """

    def __init__(self, path: Path, head: dict[str, Any]):
        whole = "".join(f"{line}\n" for line in whole_lines(path, head["format"]))
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.error: OSError | None = None
        self._file = path.open("a", encoding="utf-8")
        self._file.truncate(len(whole.encode()))
        if not whole:
            self.write(head)

    def write(self, line: dict[str, Any]) -> None:
        """Writes a line."""
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
