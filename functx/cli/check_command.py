"""`functx check`: runs cells of the database, shows and writes what came of them."""

from __future__ import annotations

import collections
import contextlib
import functools as ft
import time
from collections.abc import Generator, Sequence

from rich.console import Console
from rich.markup import escape

from functx.testing import op_db, unfinished

from .comparison import compare, load_run, print_comparison
from .console import counted, print_results, progress, slowest, summary
from .junit import write_junit
from .long_runs.journal import earlier_results, Journal, open_journal
from .long_runs.shards import select_shard
from .long_runs.workers import run_in_processes
from .output_files import print_outputs, require_outputs, unwritable, UNWRITTEN, write_outputs
from .report import as_data, write_html, write_json
from .requests import CheckRequest
from .runner import Cell, declared_gaps, Plan, Result, run_here
from .selection import (
    names_of,
    select_checks,
    select_device,
    select_dtypes,
    select_entries,
    select_profile,
)
from .settings import configure
from .usage import UsageError


WRITERS = {"--report": write_html, "--json": write_json, "--junit": write_junit}
LEFT = 3  # the exit status where the time was over before the cells


def run_check(request: CheckRequest, console: Console) -> int:
    """Runs `functx check` as requested, and returns the exit status.

    0; 1 if a cell fails; 3 if time was over with cells left; 4 if a file could not be written;
    130 if stopped.
    """
    earlier = load_run(request.compare) if request.compare is not None else None
    infos = select_entries(request.pattern, op_db)
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
    planned = plan.cells()
    if not planned:
        raise UsageError("no chosen check applies to the chosen operators in the chosen dtypes")
    chosen = select_shard(request.shard, planned)
    if not chosen:
        entries = len({cell[0] for cell in planned})
        console.print(
            f"--shard {request.shard} holds nothing: all parts together hold {entries} entries",
            highlight=False,
        )
    done = request.done or ()
    require_outputs(request.output_files, done)
    known = earlier_results(plan, request.journal, done)
    results = [known[cell] for cell in chosen if cell in known]
    before = sum(result.seconds for result in results)
    began = time.perf_counter()
    left = [cell for cell in chosen if cell not in known]
    with open_journal(request.journal, plan) as journal:
        stopped = _collect(plan, left, request, results, journal, console)
    seconds = time.perf_counter() - began
    order = {cell: i for i, cell in enumerate(chosen)}
    results.sort(key=lambda r: order[r.cell])
    data = as_data(plan, results, planned=len(chosen), seconds=before + seconds)
    writers = {name: ft.partial(write, data=data) for name, write in WRITERS.items()}
    # Before a closed terminal can get in the way.
    written, lost = write_outputs(request.output_files, writers)
    if journal is not None and journal.error is not None:
        lost.append(unwritable("--journal", journal.path, journal.error))
    print_results(console, results)
    summed = summary(results, len(chosen), before + seconds, from_journals=len(chosen) - len(left))
    console.print(summed, highlight=False)
    gaps = counted(declared_gaps(plan.infos), "gap")
    entries = "entry" if len(plan.infos) == 1 else "entries"
    console.print(f"{gaps} declared in all of {len(plan.infos)} {entries}", highlight=False)
    for entry, missing in _unfinished(request, plan).items():
        words = ", ".join(missing)
        console.print(f"[yellow]○[/] [bold]{escape(entry)}[/] lacks: {words}", highlight=False)
    if longest := slowest(results):
        console.print(longest, highlight=False)
    print_outputs(console, written, lost)
    worse = any(result.failing for result in results)
    if request.compare is not None and earlier is not None:
        others = {cell[0] for cell in planned} - {cell[0] for cell in chosen}
        changes = compare(earlier, plan, chosen, results, request.pattern, others)
        print_comparison(console, request.compare, changes)
        worse |= changes.worse
    if stopped or lost:
        return 130 if stopped else UNWRITTEN
    if worse:
        return 1
    return 0 if len(results) == len(chosen) else LEFT


def _unfinished(request: CheckRequest, plan: Plan) -> dict[str, list[str]]:
    """The notes on what the entries of an operator, named exactly, lack."""
    alike = len({info.name for info in plan.infos}) == 1
    if not alike or not any(request.pattern in names_of(info) for info in plan.infos):
        return {}
    found = {}
    for info in plan.infos:
        siblings = [other for other in op_db if other.op is info.op and other is not info]
        found[info.id] = unfinished(info, siblings)
    return {entry: missing for entry, missing in found.items() if missing}


def _collect(
    plan: Plan,
    left: Sequence[Cell],
    request: CheckRequest,
    results: list[Result],
    journal: Journal | None,
    console: Console,
) -> bool:
    """Runs the cells that are left into `results`; says whether it was interrupted.

    When time is over, it ends with the next entry in a dtype.
    """
    end = time.perf_counter() + 60 * (request.minutes or float("inf"))
    ahead = collections.Counter(cell[:2] for cell in left)
    failing = sum(result.failing for result in results)
    with progress(console) as bar:
        total = len(left) + len(results)
        task = bar.add_task("starting", total=total, completed=len(results), failing=failing)
        try:
            with contextlib.closing(_running(plan, left, request.jobs)) as running:
                for result in running:
                    results.append(result)
                    if journal is not None:
                        journal.add(result)
                    failing += result.failing
                    now = f"{result.operator} {result.dtype} {result.check}"
                    bar.update(task, advance=1, failing=failing, description=now)
                    ahead[result.cell[:2]] -= 1
                    if not ahead[result.cell[:2]] and time.perf_counter() > end:
                        break
        except KeyboardInterrupt:
            return True
    return False


def _running(plan: Plan, chosen: Sequence[Cell], jobs: int) -> Generator[Result, None, None]:
    if jobs > 1:
        yield from run_in_processes(plan, chosen, jobs)
    else:
        yield from run_here(plan, chosen, select_device(plan.device))
