"""What a run shows in the terminal: progress, the tables, the failures."""

from __future__ import annotations

import os
import string
from collections.abc import Iterable, Sequence

from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from functx.testing import CHECKS

from .runner import check_groups, FAILING, Result, totals


# The worst first: of several dtypes, a cell shows the worst.
MARKS = {
    "fail": "[bold red]✗[/]",
    "unexpected pass": "[bold red]![/]",
    "gap": "[yellow]○[/]",
    "pass": "[green]✓[/]",
}
ABSENT = "[dim]·[/]"
LEGEND = "[dim]✓ passes  ✗ fails  ○ declared gap  ! a gap that passes  · does not apply[/]"
MOST_ROWS = 40
PIPED_WIDTH = 10_000  # characters: wider than any table


def make_console() -> Console:
    """The console of a command, as wide as the terminal, or as needed where there is none."""
    console = Console()
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(width=PIPED_WIDTH)


def first_that_fits(console: Console, *tables: Table) -> Table:
    """The first table that is not wider than the console, or else the last."""
    unbounded = console.options.update(max_width=PIPED_WIDTH)
    fitting = (t for t in tables if Measurement.get(console, unbounded, t).maximum <= console.width)
    return next(fitting, tables[-1])


def letters_of(groups: Iterable[str]) -> dict[str, str]:
    """A letter for each group, where the groups' names are too wide to head columns."""
    return dict(zip(groups, string.ascii_letters, strict=False))


def print_letters(console: Console, letters: dict[str, str]) -> None:
    """The legend of `letters_of`."""
    words = [f"[dim]{letter} {escape(name)}[/]" for name, letter in letters.items()]
    console.print(Columns(words, padding=(0, 2, 0, 0)), highlight=False)


class Rate(ProgressColumn):
    """A progress column: cells in a second."""

    def render(self, task: Task) -> Text:
        """`12.3 cells/s`."""
        return Text(f"{task.speed or 0:.1f} cells/s", style="cyan")


def progress(console: Console) -> Progress:
    """A bar that also counts what fails and says what runs."""
    return Progress(
        SpinnerColumn(),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        Rate(),
        TextColumn("[red]{task.fields[failing]} failing"),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.description}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _worst(results: Iterable[Result]) -> str:
    statuses = {result.status for result in results}
    return next((mark for status, mark in MARKS.items() if status in statuses), ABSENT)


def print_results(console: Console, results: Sequence[Result]) -> None:
    """The table, totals per check, the first failures and one line in sum."""
    by_operator: dict[str, dict[str, list[Result]]] = {}
    for result in results:
        by_check = by_operator.setdefault(result.operator, {})
        by_check.setdefault(result.check, []).append(result)
    used = [check for check in CHECKS if any(check in row for row in by_operator.values())]
    shown = by_operator
    if len(by_operator) > MOST_ROWS:
        shown = {
            name: row
            for name, row in by_operator.items()
            if any(r.failing for cell in row.values() for r in cell)
        }
    if shown:
        _print_matrix(console, shown, used)
        console.print(LEGEND + "\n")
    console.print(_per_check(results, used))
    failures = _failures(results)
    for (operator, check, said), dtypes in failures[:10]:
        console.print(
            f"[red]✗[/] [bold]{escape(operator)}[/] {', '.join(dtypes)} {check}: {escape(said)}",
            highlight=False,
        )
    if len(failures) > 10:
        console.print(f"  and {len(failures) - 10} more; --report FILE.html has them all")


def _failures(results: Iterable[Result]) -> list[tuple[tuple[str, str, str], list[str]]]:
    """The failures, those of an entry that say the same in several dtypes as one."""
    dtypes: dict[tuple[str, str, str], list[str]] = {}
    for result in results:
        if result.failing:
            said = (result.error.strip().splitlines() or [""])[0]
            dtypes.setdefault((result.operator, result.check, said), []).append(result.dtype)
    return list(dtypes.items())


def _print_matrix(
    console: Console, rows: dict[str, dict[str, list[Result]]], checks: Sequence[str]
) -> None:
    """Prints a row for each entry: a mark for each check, or for each group if too wide."""
    groups = check_groups(checks)
    if len(checks) <= 6:
        groups = {check: [check] for check in checks}
    letters = letters_of(groups)
    full = _matrix(rows, groups)
    short = {letters[name]: same for name, same in groups.items()}
    lettered = _matrix(rows, short)
    of_groups = _matrix(rows, short, whole_groups=True)
    table = first_that_fits(console, full, lettered, of_groups)
    console.print(table)
    if table is not full:
        print_letters(console, letters)


def _matrix(
    rows: dict[str, dict[str, list[Result]]],
    columns: dict[str, list[str]],
    *,
    whole_groups: bool = False,
) -> Table:
    """The marks of entries; with `whole_groups` one mark a group, that of its worst cell."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0) if whole_groups else (0, 1))
    table.add_column("operator", no_wrap=True, max_width=36)
    for name in columns:
        table.add_column(name, justify="left", no_wrap=True)
    for entry, row in rows.items():
        marks = [
            _worst(r for c in same for r in row.get(c, ()))
            if whole_groups
            else "".join(_worst(row.get(c, ())) for c in same)
            for same in columns.values()
        ]
        table.add_row(escape(entry), *marks)
    return table


def _per_check(results: Sequence[Result], checks: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("check", "group"):
        table.add_column(column, style="dim" if column == "group" else "")
    for column in ("pass", "fail", "gap", "seconds"):
        table.add_column(column, justify="right")
    for group, names in check_groups(checks).items():
        for check in names:
            here = [result for result in results if result.check == check]
            count = totals(here)
            bad = sum(count[status] for status in FAILING)
            table.add_row(
                check,
                group,
                str(count["pass"]),
                f"[bold red]{bad}[/]" if bad else "0",
                f"[yellow]{count['gap']}[/]" if count["gap"] else "0",
                f"{sum(result.seconds for result in here):.1f}",
            )
    return table


def counted(number: int, what: str) -> str:
    """`1 check`, `2 checks`."""
    return f"{number} {what}{'s' * (number != 1)}"


def summary(
    results: Sequence[Result], planned: int, seconds: float, *, from_journals: int = 0
) -> str:
    """The line that sums a run up; results of `from_journals` cells are of runs before."""
    count = totals(results)
    bad = sum(count[status] for status in FAILING)
    stopped = "" if len(results) == planned else f" (stopped: {planned - len(results)} not run)"
    color = "red" if bad else "green"
    before = f"; {counted(from_journals, 'cell')} from the journal" if from_journals else ""
    rate = f", {len(results) / seconds:.1f} cells/s" if seconds else ""
    return (
        f"[bold {color}]{count['pass']} pass, {bad} fail[/], {counted(count['gap'], 'gap')} "
        f"in {seconds:.1f} s{rate}{stopped}{before}"
    )


def slowest(results: Iterable[Result], most: int = 5) -> str:
    """A line on the entries and dtypes whose cells took longest; empty for few cells."""
    sums: dict[tuple[str, str], float] = {}
    for result in results:
        key = result.operator, result.dtype
        sums[key] = sums.get(key, 0.0) + result.seconds
    if len(sums) <= most:
        return ""
    longest = sorted(sums, key=lambda key: -sums[key])[:most]
    share = sum(sums[key] for key in longest) / (sum(sums.values()) or 1)
    named = ", ".join(
        f"{escape(name)} {dtype} {sums[name, dtype]:.1f} s" for name, dtype in longest
    )
    return f"[dim]longest: {named}; {share:.0%} of the time[/]"
