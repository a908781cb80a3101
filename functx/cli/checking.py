"""`functx check`: runs cells of the database, shows and writes what came of them."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Generator, Sequence
from pathlib import Path

from rich.console import Console

from functx.testing import op_db

from .comparison import compare, load_run, print_comparison
from .console import print_results, progress, summary
from .junit import write_junit
from .report import as_data, write_html, write_json
from .runner import Cell, Plan, Result, run_here
from .selection import (
    names_of,
    select,
    select_checks,
    select_device,
    select_dtypes,
    select_profile,
    UsageError,
)
from .settings import configure
from .workers import run_in_processes


@dataclasses.dataclass(frozen=True)
class Request:
    """The words of the command line."""

    pattern: str | None = None
    checks: str | None = None
    dtypes: str | None = None
    device: str = "cpu"
    samples: int | None = None
    jobs: int = 1
    x64: bool = True
    profile: str = "quick"
    report: Path | None = None
    json: Path | None = None
    junit: Path | None = None
    compare: Path | None = None


def run_check(request: Request, console: Console) -> int:
    """Does what was asked, and gives the exit status: 0, 1 if a cell fails, 130 if stopped."""
    if request.jobs < 1:
        raise UsageError(f"--jobs must be at least 1, got {request.jobs}")
    if request.samples is not None and request.samples < 1:
        raise UsageError(f"--samples must be at least 1, got {request.samples}")
    earlier = load_run(request.compare) if request.compare is not None else None
    infos = select(request.pattern, op_db, names_of)
    plan = Plan(
        tuple(infos),
        select_dtypes(request.dtypes),
        select_checks(request.checks),
        request.device,
        request.samples,
        request.x64,
        select_profile(request.profile),
    )
    configure(device=request.device, x64=request.x64, shared=request.jobs > 1)
    select_device(request.device)
    chosen = plan.cells()
    if not chosen:
        raise UsageError("no chosen check applies to the chosen operators in the chosen dtypes")
    began = time.perf_counter()
    results: list[Result] = []
    stopped = _collect(plan, chosen, request.jobs, results, console)
    seconds = time.perf_counter() - began
    order = {cell: i for i, cell in enumerate(chosen)}
    results.sort(key=lambda r: order[r.operator, r.dtype, r.check])
    written = _write(request, plan, results, len(chosen), seconds)
    print_results(console, results)
    console.print(summary(results, len(chosen), seconds), highlight=False)
    for path in written:
        console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    worse = any(result.failing for result in results)
    if request.compare is not None and earlier is not None:
        changes = compare(earlier, plan, chosen, results, request.pattern)
        print_comparison(console, request.compare, changes)
        worse |= changes.worse
    return 130 if stopped else int(worse)


def _collect(
    plan: Plan, chosen: Sequence[Cell], jobs: int, results: list[Result], console: Console
) -> bool:
    """Runs the cells into `results`; says whether it was interrupted."""
    with progress(console) as bar:
        task = bar.add_task("starting", total=len(chosen), failing=0)
        failing = 0
        try:
            with contextlib.closing(_running(plan, chosen, jobs)) as running:
                for result in running:
                    results.append(result)
                    failing += result.failing
                    now = f"{result.operator} {result.dtype} {result.check}"
                    bar.update(task, advance=1, failing=failing, description=now)
        except KeyboardInterrupt:
            return True
    return False


def _running(plan: Plan, chosen: Sequence[Cell], jobs: int) -> Generator[Result, None, None]:
    if jobs > 1:
        yield from run_in_processes(plan, chosen, jobs)
    else:
        yield from run_here(plan, chosen, select_device(plan.device))


def _write(
    request: Request, plan: Plan, results: Sequence[Result], planned: int, seconds: float
) -> list[Path]:
    """Writes what was asked for, before a closed terminal can get in the way."""
    data = as_data(plan, results, planned=planned, seconds=seconds)
    written = []
    wanted = (
        (write_html, request.report),
        (write_json, request.json),
        (write_junit, request.junit),
    )
    for write, path in wanted:
        if path is not None:
            write(path, data)
            written.append(path)
    return written
