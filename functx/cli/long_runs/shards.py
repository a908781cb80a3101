"""A part of a run, for one of several machines."""

from __future__ import annotations

import re

from functx.cli.runner import Cell
from functx.cli.usage import UsageError


def select_shard(word: str | None, planned: list[Cell]) -> list[Cell]:
    """The cells of every n-th entry, for a word such as `2/8`; all cells for None."""
    if word is None:
        return planned
    found = re.fullmatch(r"(\d+)/(\d+)", word)
    i, n = map(int, found.groups()) if found else (0, 0)
    if not 1 <= i <= n:
        raise UsageError(f"--shard must be a part of several, 1/8 to 8/8, got {word!r}")
    entries = list(dict.fromkeys(cell[0] for cell in planned))
    mine = set(entries[i - 1 :: n])
    return [cell for cell in planned if cell[0] in mine]
