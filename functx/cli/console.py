"""What a run shows in the terminal: progress, the table, the failures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
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


class Rate(ProgressColumn):
    """Cells a second."""

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
        console.print(_matrix(shown, used))
        console.print(LEGEND + "\n")
    console.print(_per_check(results, used))
    failing = [result for result in results if result.failing]
    for result in failing[:10]:
        first = (result.error.strip().splitlines() or [""])[0]
        console.print(
            f"[red]✗[/] [bold]{escape(result.operator)}[/] {result.dtype} {result.check}: "
            f"{escape(first)}",
            highlight=False,
        )
    if len(failing) > 10:
        console.print(f"  and {len(failing) - 10} more; --report FILE.html has them all")


def _matrix(rows: dict[str, dict[str, list[Result]]], checks: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("operator", no_wrap=True, max_width=36)
    groups = check_groups(checks)
    if len(checks) <= 6:
        groups = {check: [check] for check in checks}
    for group in groups:
        table.add_column(group, justify="left", no_wrap=True)
    for name, row in rows.items():
        marks = ["".join(_worst(row.get(c, ())) for c in group) for group in groups.values()]
        table.add_row(escape(name), *marks)
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


def summary(results: Sequence[Result], planned: int, seconds: float) -> str:
    """One line in sum."""
    count = totals(results)
    bad = sum(count[status] for status in FAILING)
    stopped = "" if len(results) == planned else f" (stopped: {planned - len(results)} not run)"
    color = "red" if bad else "green"
    rate = f", {len(results) / seconds:.1f} cells/s" if seconds else ""
    return (
        f"[bold {color}]{count['pass']} pass, {bad} fail[/], {count['gap']} gaps "
        f"in {seconds:.1f} s{rate}{stopped}"
    )


def slowest(results: Iterable[Result], most: int = 5) -> str:
    """The entries in a dtype whose cells took longest, in a line; "" of few."""
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
