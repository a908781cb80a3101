"""The files that a run writes, which are tried before the run begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from .usage import UsageError


UNWRITTEN = 4  # the exit status where a file could not be written when the run was over


def require_outputs(files: Mapping[str, Path | None], done: Iterable[Path] = ()) -> None:
    """Refuses a file that cannot be written, that is given twice, or that is a `--done` file.

    `files` are by option.
    """
    outputs = {option: path for option, path in files.items() if path is not None}
    seen = {path.resolve(): "--done" for path in done}
    for option, path in outputs.items():
        other = seen.setdefault(path.resolve(), option)
        if other != option:
            raise UsageError(f"{other} and {option} name the same file, {path}; name two")
    for option, path in outputs.items():
        try:
            _try(path)
        except OSError as error:
            raise UsageError(unwritable(option, path, error)) from None


def _try(path: Path) -> None:
    """Opens a file for writing, and leaves the file, or its absence, as it was."""
    if not path.parent.exists():
        path.parent.mkdir(parents=True)
    if path.exists() and not path.is_file():
        return  # a terminal, or a pipe, whose reader would see it close
    new = not os.path.lexists(path)
    path.open("ab").close()
    if new:
        path.unlink()


def unwritable(option: str, path: Path, error: OSError) -> str:
    """The message about a file that cannot be written."""
    return f"{option} {path} cannot be written: {error.strerror or error}"


def write_outputs(
    files: Mapping[str, Path | None], writers: Mapping[str, Callable[[Path], None]]
) -> tuple[list[Path], list[str]]:
    """Writes the requested files; returns those written, and messages about the others.

    Both arguments are by option.
    """
    written, lost = [], []
    for option, write in writers.items():
        path = files[option]
        if path is None:
            continue
        try:
            write(path)
        except OSError as error:
            lost.append(unwritable(option, path, error))
        else:
            written.append(path)
    return written, lost


def print_outputs(console: Console, written: Iterable[Path], lost: Iterable[str]) -> None:
    """Prints a line for each file."""
    for path in written:
        console.print(f"wrote {escape(str(path))}", highlight=False, soft_wrap=True)
    for line in lost:
        console.print(f"[red]{escape(line)}[/]", highlight=False, soft_wrap=True)
