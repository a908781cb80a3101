"""The exhaustive profile's totals: recorded from journals, an entry a line, and made a page of.

`python docs/ext/exhaustive.py JOURNAL...` records the entries of which all cells have been run.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_type_hints

from catalog import family_of, title
from status import FAILING

from functx._core import REGISTRY
from functx.testing import cells, op_db


RECORD = Path(__file__).parents[1] / "exhaustive.tsv"

_INTRODUCTION = """# The exhaustive profile

All samples of all entries in all dtypes under all compositions, on CPU
(`functx check --profile exhaustive`). It takes hours, so that it is run in pieces (see
[](../how-to/read_the_report.md)), and each entry's totals are recorded here with the commit that
was checked.
"""


@dataclasses.dataclass(frozen=True)
class Totals:
    """How the cells of an entry came out."""

    entry: str
    commit: str  # what was checked
    cells: int
    passed: int
    gaps: int
    seconds: float  # on one core


def recorded(path: Path = RECORD) -> list[Totals]:
    """What was recorded, of entries that there are."""
    entries = {info.id for info in op_db}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    read = get_type_hints(Totals)
    found = (Totals(**{name: read[name](x) for name, x in row.items()}) for row in rows)
    return [each for each in found if each.entry in entries]


def exhaustive_page() -> str:
    """The totals by family as MyST text, and what has not been run."""
    families = {info.id: family_of(REGISTRY[info.name]) for info in op_db}
    sums: dict[str, list[Totals]] = defaultdict(list)
    for each in recorded():
        sums[families[each.entry]].append(each)
    every = [each for same in sums.values() for each in same]
    head = ["| family | entries | cells | pass | gaps | fail | core minutes | commits |"]
    head += ["|---|--:|--:|--:|--:|--:|--:|---|"]
    rows = [_row(title(family), same) for family, same in sorted(sums.items())]
    missing = len(op_db) - len(every)
    left = f"\n{missing} of {len(op_db)} entries are left to be run." if missing else ""
    return "\n".join([_INTRODUCTION, *head, *rows, _row("**all**", every), left])


def _row(name: str, totals: Iterable[Totals]) -> str:
    totals = list(totals)
    count = lambda field: sum(getattr(each, field) for each in totals)
    run, passed, gaps = count("cells"), count("passed"), count("gaps")
    commits = ", ".join(f"`{x}`" for x in sorted({each.commit for each in totals}))
    return (
        f"| {name} | {len(totals)} | {run} | {passed} | {gaps} | {run - passed - gaps} "
        f"| {count('seconds') / 60:.0f} | {commits} |"
    )


def totals_in(journals: Iterable[Path], commit: str) -> Iterator[Totals]:
    """Those of the entries of which the journals hold all cells of the profile."""
    last = {}
    for journal in journals:
        for line in journal.read_text().splitlines()[1:]:
            try:
                result = json.loads(line)
            except ValueError:  # the line that is being written
                continue
            last[result["operator"], result["dtype"], result["check"]] = result
    for info in op_db:
        wanted = [
            (info.id, dtype, check) for _, dtype, check in cells([info], profile="exhaustive")
        ]
        if all(cell in last for cell in wanted):
            statuses = Counter(last[cell]["status"] for cell in wanted)
            seconds = sum(last[cell]["seconds"] for cell in wanted)
            for cell in wanted:
                if last[cell]["status"] in FAILING:
                    print(*cell, last[cell]["error"][:200].replace("\n", " "))
            yield Totals(
                info.id, commit, len(wanted), statuses["pass"], statuses["gap"], round(seconds, 1)
            )


def record(journals: Iterable[Path], commit: str) -> None:
    """Adds the journals' entries to the record, in the database's order."""
    known = {each.entry: each for each in recorded()} if RECORD.exists() else {}
    known |= {each.entry: each for each in totals_in(journals, commit)}
    with RECORD.open("w", newline="") as file:
        names = [field.name for field in dataclasses.fields(Totals)]
        writer = csv.DictWriter(file, names, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        for info in op_db:
            if info.id in known:
                writer.writerow(dataclasses.asdict(known[info.id]))


if __name__ == "__main__":
    import jax

    jax.config.update("jax_enable_x64", True)
    head = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    )
    record(map(Path, sys.argv[1:]), head.stdout.strip())
