"""The exhaustive profile's totals: recorded from journals, an entry a line, and made a page of.

`python docs/ext/exhaustive.py COMMIT JOURNAL...` records the entries of which all cells have been
run, and pass or are declared gaps; it prints what fails.
"""

from __future__ import annotations

import csv
import dataclasses
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_type_hints

import jax
from families import family_of, title

from functx._core import REGISTRY
from functx.cli.long_runs import journal
from functx.cli.runner import Cell, Plan
from functx.testing import op_db


RECORD = Path(__file__).parents[1] / "exhaustive.tsv"

_INTRODUCTION = """# The exhaustive profile

All samples of all entries in all dtypes under all compositions, on CPU
(`functx check --profile exhaustive`). It takes hours, so that it is run in pieces (see
[](../how-to/read_the_report.md)). An entry is recorded with the commit that was checked when all of
its cells pass or are declared gaps; one of which a cell fails is mended, and run again. Cells of
checks that came after were run by themselves, at the commit after the `+`. The minutes are those of
one process, beside others.
"""


@dataclasses.dataclass(frozen=True)
class Totals:
    """How the cells of an entry came out."""

    entry: str
    commit: str  # what was checked; "first + second": the second, in checks that came after
    cells: int
    passed: int
    gaps: int
    seconds: float


def recorded(path: Path = RECORD) -> dict[str, Totals]:
    """What was recorded, by entry, of entries that there are."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    read = get_type_hints(Totals)
    found = (Totals(**{name: read[name](x) for name, x in row.items()}) for row in rows)
    entries = {info.id for info in op_db}
    return {each.entry: each for each in found if each.entry in entries}


def exhaustive_page() -> str:
    """The totals by family as MyST text, and what has not been run."""
    every, sums = recorded(), defaultdict(list)
    for info in op_db:
        if info.id in every:
            sums[family_of(REGISTRY[info.name])].append(every[info.id])
    head = ["| family | entries | cells | pass | gaps | minutes | commits |"]
    head += ["|---|--:|--:|--:|--:|--:|---|"]
    rows = [_row(title(family), same) for family, same in sorted(sums.items())]
    return "\n".join([_INTRODUCTION, *head, *rows, _row("**all**", every.values()), "", _left()])


def _row(name: str, totals: Iterable[Totals]) -> str:
    totals = list(totals)
    count = lambda field: sum(getattr(each, field) for each in totals)
    commits = ", ".join(f"`{x}`" for x in sorted({each.commit for each in totals}))
    return (
        f"| {name} | {len(totals)} | {count('cells')} | {count('passed')} | {count('gaps')} "
        f"| {count('seconds') / 60:.0f} | {commits} |"
    )


def _left() -> str:
    every = recorded()
    planned = Counter(entry for entry, _, _ in _cells())
    other = sum(each.cells != planned[each.entry] for each in every.values())
    return (
        f"{len(op_db) - len(every)} of {len(op_db)} entries are left to be run; {other} that were "
        "run have other cells by now, of checks or dtypes that came after."
    )


PLAN = Plan(tuple(op_db), profile="exhaustive")


def _cells() -> list[Cell]:
    with jax.enable_x64(True):  # where it is off, the dtypes that have them are left out
        return PLAN.cells()


def totals_in(journals: Iterable[Path], commit: str) -> Iterator[Totals]:
    """Those of the entries of which the journals hold all cells; prints what fails.

    A journal of another profile, or of another version of functx or JAX, is a `UsageError`.
    """
    results = {result.cell: result for path in journals for result in journal.recorded(path, PLAN)}
    wanted = defaultdict(list)
    for cell in _cells():
        wanted[cell[0]].append(cell)
    for entry, cells in wanted.items():
        if not all(cell in results for cell in cells):
            continue
        own = [results[cell] for cell in cells]
        failing = [result for result in own if result.failing]
        for result in failing:
            print(*result.cell, result.error.partition("\n")[0][:200])
        if not failing:
            gaps = sum(result.status == "gap" for result in own)
            seconds = round(sum(result.seconds for result in own), 1)
            yield Totals(entry, commit, len(own), len(own) - gaps, gaps, seconds)


def record(commit: str, journals: Iterable[Path], path: Path = RECORD) -> None:
    """Adds the journals' entries to the record, in the database's order."""
    known = recorded(path) if path.exists() else {}
    known |= {each.entry: each for each in totals_in(journals, commit)}
    with path.open("w", newline="") as file:
        names = [field.name for field in dataclasses.fields(Totals)]
        writer = csv.DictWriter(file, names, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(dataclasses.asdict(known[x.id]) for x in op_db if x.id in known)


if __name__ == "__main__":
    record(sys.argv[1], map(Path, sys.argv[2:]))
