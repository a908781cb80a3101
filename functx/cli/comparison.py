"""`functx check --compare`: what changed between an earlier run's JSON and this one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

from rich.console import Console
from rich.markup import escape

from functx.testing import op_db

from .report import FORMAT, VERSION
from .runner import Cell, FAILING, Plan, Result, Status
from .selection import matcher, names_of
from .usage import UsageError


MOST_CELLS = 10  # of each kind are printed
SLOWEST = 5
_FIELDS = ("operator", "dtype", "check", "status", "seconds")


@dataclasses.dataclass(frozen=True)
class RunComparison:
    """Cells by what became of them; `slower` has entries, dtypes, seconds then and now."""

    failing: list[Cell]
    passing: list[Cell]
    opened: list[Cell]  # gaps
    closed: list[Cell]
    gone: list[Cell]
    new: list[Cell]
    elsewhere: int  # cells that one run alone has, as their settings differ
    worse: bool  # whether a cell that passed fails now or is gone
    slower: list[tuple[str, str, float, float]]


def load_run(path: Path) -> dict[str, Any]:
    """What `functx check --json` wrote, or a `UsageError` of one line."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{path} is no JSON") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UsageError(f"{path} is no run of functx check; --json writes one")
    if data.get("version") != VERSION:
        raise UsageError(
            f"{path} has version {data.get('version')!r} of the format, not {VERSION}; "
            "write it anew with --json"
        )
    if not _readable(data):
        raise UsageError(f"{path} lacks what a run of functx check has; write it anew with --json")
    if (word := _strange_status(data)) is not None:
        known = ", ".join(get_args(Status))
        raise UsageError(f"{path} must have one of {known} as 'status', got {word!r}")
    return data


def _readable(data: dict[str, Any]) -> bool:
    """Whether the data has all that a comparison reads."""
    try:
        settings = data["settings"]
        _ = settings["profile"], settings["x64"]
        _ = settings["asked"]["dtypes"], settings["asked"]["checks"]
        cells = [tuple(cell[name] for name in _FIELDS) for cell in data["cells"]]
    except (KeyError, TypeError):
        return False
    kinds = (str, str, str, str, (int, float))
    return all(all(map(isinstance, cell, kinds)) for cell in cells)


def _strange_status(data: dict[str, Any]) -> str | None:
    """A status of some cell that this version does not know, or None."""
    words = (cell["status"] for cell in data["cells"])
    return next((word for word in words if word not in get_args(Status)), None)


def compare(
    old: dict[str, Any],
    plan: Plan,
    planned: Iterable[Cell],
    results: Sequence[Result],
    pattern: str | None = None,
    others: Collection[str] = (),
) -> RunComparison:
    """What became of an earlier run's cells.

    - `old`: the earlier run, of `load_run`.
    - `planned`: the cells of this one; `results` are of those that were run.
    - `pattern`: the operators that this one was asked for. Others are not compared, nor are
      checks and dtypes that it was not asked for.
    - `others`: the entries that are left to other shards, and not compared.

    Cells that one run alone has are new or gone where both have the same profile and settings.
    """
    asked = _scope(plan, pattern)
    cells = {(c["operator"], c["dtype"], c["check"]): c for c in old["cells"]}
    before = {
        cell: c["status"] for cell, c in cells.items() if asked(cell) and cell[0] not in others
    }
    now = {r.cell: r for r in results}
    here, alike = set(planned), _alike(old["settings"], plan)
    gone, new = [c for c in before if c not in here], [c for c in now if c not in before]
    both = [(cell, before[cell], r.status) for cell, r in now.items() if cell in before]
    failing = [c for c, was, is_ in both if was not in FAILING and is_ in FAILING]
    return RunComparison(
        failing=failing,
        passing=[c for c, was, is_ in both if was in FAILING and is_ == "pass"],
        opened=[c for c, was, is_ in both if was != "gap" and is_ == "gap"],
        closed=[c for c, was, is_ in both if was == "gap" and is_ == "pass"],
        gone=gone if alike else [],
        new=new if alike else [],
        elsewhere=0 if alike else len(gone) + len(new),
        worse=any(before[cell] == "pass" for cell in (*failing, *(gone if alike else ()))),
        slower=_slower([(cells[cell]["seconds"], now[cell]) for cell, _, _ in both]),
    )


def _scope(plan: Plan, pattern: str | None) -> Callable[[Cell], bool]:
    """A function that says whether a run was asked about a cell."""
    ids = {info.id for info in plan.infos}
    known = {info.id for info in op_db} - ids
    exact = any(pattern in names_of(info) for info in plan.infos)
    matches = matcher(pattern) if pattern and not exact else None

    def asked(cell: Cell) -> bool:
        operator, dtype, check = cell
        if plan.dtypes is not None and dtype not in plan.dtypes:
            return False
        if plan.checks is not None and check not in plan.checks:
            return False
        if not pattern or operator in ids or operator in known:
            return operator not in known
        return matches(operator) if matches else operator.partition("-")[0] == pattern

    return asked


def _alike(settings: dict[str, Any], plan: Plan) -> bool:
    """Whether a run of `plan` has all cells that one with these settings has, where in scope."""
    asked = settings["asked"]
    return (
        (settings["profile"], settings["x64"]) == (plan.profile, plan.x64)
        and (asked["dtypes"] is None or plan.dtypes is not None)
        and (asked["checks"] is None or plan.checks is not None)
    )


def _slower(pairs: Iterable[tuple[float, Result]]) -> list[tuple[str, str, float, float]]:
    """The entries, by dtype, whose cells became slowest; differences by chance are left out."""
    sums: dict[tuple[str, str], list[float]] = {}
    for was, result in pairs:
        both = sums.setdefault((result.operator, result.dtype), [0.0, 0.0])
        both[0] += was
        both[1] += result.seconds
    slower = [(*key, was, is_) for key, (was, is_) in sums.items() if is_ > max(2 * was, was + 1)]
    return sorted(slower, key=lambda row: row[2] - row[3])[:SLOWEST]


def print_comparison(console: Console, path: Path, comparison: RunComparison) -> None:
    """What changed, the worst first; the times at the end."""
    kinds = {
        "[red]✗ fails now[/]": comparison.failing,
        "[red]− gone[/]": comparison.gone,
        "[yellow]○ gap opened[/]": comparison.opened,
        "[green]● gap closed[/]": comparison.closed,
        "[green]✓ passes now[/]": comparison.passing,
        "[dim]+ new[/]": comparison.new,
    }
    counts = ", ".join(f"{len(cells)} {what}" for what, cells in kinds.items() if cells)
    _say(console, f"\nCompared with {escape(str(path))}: {counts or 'nothing changed'}")
    for what, cells in kinds.items():
        for cell in cells[:MOST_CELLS]:
            _say(console, f"{what} {escape(' '.join(cell))}")
        if len(cells) > MOST_CELLS:
            _say(console, f"{what} and {len(cells) - MOST_CELLS} more")
    if comparison.elsewhere:
        _say(
            console,
            f"[dim]The settings differ: {comparison.elsewhere} cells of one run alone "
            "are not compared.[/]",
        )
    for operator, dtype, was, is_ in comparison.slower:
        _say(console, f"[dim]slower: {escape(operator)} {dtype} {was:.2f} s, now {is_:.2f} s[/]")


def _say(console: Console, line: str) -> None:
    console.print(line, highlight=False, soft_wrap=True)
