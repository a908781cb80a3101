"""What hunts for planted mistakes found, an entry a line, with a digest of what it rests on."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from pathlib import Path

from functx.cli.usage import UsageError
from functx.testing import OpInfo
from functx.testing.checks.source_digests import source_digest
from functx.testing.mutants import Verdict

from .journal_file import head_of, JournalFile, lines_after, parsed


FORMAT = "functx mutants journal"


def earlier_hunts(
    path: Path | None, device: str, infos: Sequence[OpInfo]
) -> dict[str, list[Verdict]]:
    """The verdicts that stand, by entry: those in which nothing survived, of unchanged sources."""
    if path is None:
        return {}
    digests = {info.id: source_digest(info) for info in infos}
    found: dict[str, list[Verdict]] = {}
    for number, line in enumerate(lines_after(path, head_of(FORMAT, device=device)), 2):
        given = parsed(line) or {}
        try:
            operator, source = given["operator"], given["source"]
            verdicts = [Verdict(**one) for one in given["verdicts"]]
        except (KeyError, TypeError):
            remedy = "delete the line, and its entry is hunted again"
            raise UsageError(f"{path}, line {number}, holds no verdicts; {remedy}") from None
        if digests.get(operator) == source and all(verdict.caught for verdict in verdicts):
            found[operator] = verdicts
    return found


def open_hunt_journal(
    path: Path | None, device: str, infos: Sequence[OpInfo]
) -> contextlib.AbstractContextManager[HuntJournal | None]:
    """A journal that a `with` statement closes; None without a path."""
    if path is None:
        return contextlib.nullcontext()
    return contextlib.closing(HuntJournal(path, device, infos))


class HuntJournal(JournalFile):
    """Adds the verdicts on entries to a journal."""

    def __init__(self, path: Path, device: str, infos: Sequence[OpInfo]):
        self._entries = {info.id: info for info in infos}
        super().__init__(path, head_of(FORMAT, device=device))

    def add(self, operator: str, verdicts: Sequence[Verdict]) -> None:
        """Writes the verdicts on an entry's mutants and the digest of the entry."""
        source = source_digest(self._entries[operator])
        every = [dataclasses.asdict(verdict) for verdict in verdicts]
        self.write({"operator": operator, "source": source, "verdicts": every})
