"""`functx mutants`: plants mistakes in operators and shows which check catches each."""

from __future__ import annotations

import contextlib
import dataclasses
import functools as ft
import multiprocessing
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import as_completed, ProcessPoolExecutor
from typing import TypeAlias

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from functx.testing import op_db, OpInfo
from functx.testing.checks.programs import let_go
from functx.testing.mutants import hunt_entry, KINDS, Verdict

from .console import first_that_fits, letters_of, print_letters, progress
from .long_runs.hunt_journal import earlier_hunts, open_hunt_journal
from .mutants_report import groups_of, Hunt, Share, shares, write_html, write_json
from .output_files import print_outputs, require_outputs, unwritable, UNWRITTEN, write_outputs
from .requests import MutantsRequest
from .selection import select_device, select_entries
from .settings import configure


def run_mutants(request: MutantsRequest, console: Console) -> int:
    """Runs `functx mutants` as requested, and returns the exit status.

    0; 1 if a mutant survives or an entry raises; 4 if the file could not be written; 130 if
    stopped.
    """
    infos = select_entries(request.pattern, op_db)
    configure(device=request.device, shared=request.jobs > 1)
    select_device(request.device)
    require_outputs(request.output_files)
    began, errors, stopped = time.perf_counter(), {}, False
    verdicts = earlier_hunts(request.journal, request.device, infos)
    left = [info for info in infos if info.id not in verdicts]
    kept = open_hunt_journal(request.journal, request.device, infos)
    with kept as journal, progress(console) as bar:
        task = bar.add_task("planting", total=len(infos), completed=len(verdicts), failing=0)
        try:
            with contextlib.closing(_hunted(request, left)) as hunted:
                for operator, found, error in hunted:
                    verdicts[operator] = found
                    errors |= {operator: error} if error else {}
                    if journal is not None and not error:
                        journal.add(operator, found)
                    survivors = sum(not v.caught for every in verdicts.values() for v in every)
                    failing = survivors + len(errors)
                    bar.update(task, advance=1, failing=failing, description=operator)
        except KeyboardInterrupt:
            stopped = True
    results = [v for info in infos for v in verdicts.get(info.id, ())]
    seconds = time.perf_counter() - began
    hunt = Hunt(results, errors, request.device, seconds, len(verdicts), len(infos))
    writers = {"--report": write_html, "--json": write_json}
    written, lost = write_outputs(
        request.output_files,
        {option: ft.partial(write, hunt=hunt) for option, write in writers.items()},
    )
    if journal is not None and journal.error is not None:
        lost.append(unwritable("--journal", journal.path, journal.error))
    _print(console, hunt)
    print_outputs(console, written, lost)
    if stopped or lost:
        return 130 if stopped else UNWRITTEN
    return int(bool(errors or hunt.survivors))


# An entry, the verdicts on its mutants, and what it raised while they were planted or hunted.
_HuntResult: TypeAlias = tuple[str, list[Verdict], str]


def _hunted(request: MutantsRequest, infos: Sequence[OpInfo]) -> Generator[_HuntResult, None, None]:
    """The results of hunting each entry's mutants, as they come."""
    if request.jobs == 1:
        yield from (_hunt(info.id) for info in infos)
        return
    spawn = multiprocessing.get_context("spawn")  # JAX does not survive a fork
    start = _Start(request.device)
    with ProcessPoolExecutor(request.jobs, spawn, initializer=start) as pool:
        futures = [pool.submit(_hunt, info.id) for info in infos]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@dataclasses.dataclass(frozen=True)
class _Start:
    device: str

    def __call__(self) -> None:
        configure(device=self.device, shared=True)


def _hunt(operator: str) -> _HuntResult:
    info = next(info for info in op_db if info.id == operator)
    verdicts, said = [], ""
    try:
        verdicts = hunt_entry(info, op_db)
    except Exception as error:  # of the entry, as it draws its samples: the others go on
        said = f"{type(error).__name__}: {error}"
    let_go()
    return operator, verdicts, said


def _print(console: Console, hunt: Hunt) -> None:
    groups, rows = groups_of(hunt.verdicts), shares(hunt.verdicts)
    letters = letters_of(groups)
    full = _table(groups, rows)
    lettered = _table(letters.values(), rows)
    table = first_that_fits(console, full, lettered, _table(letters.values(), rows, brief=True))
    console.print(table)
    if table is not full:
        print_letters(console, letters)
    console.print("[dim]caught/planted, or planted where all are caught  · does not apply[/]\n")
    for verdict in hunt.survivors:
        target = f" ({escape(verdict.target)})" if verdict.target else ""
        seen = f"{verdict.touched} looks" if verdict.touched else "no sample has it"
        console.print(
            f"[red]✗[/] [bold]{escape(verdict.operator)}[/] {escape(verdict.kind)}{target}: {seen}",
            highlight=False,
            soft_wrap=True,
        )
    if hunt.survivors:
        console.print("\nWhat it would mean:")
    for kind in dict.fromkeys(v.kind for v in hunt.survivors):
        console.print(f"  {kind}: {KINDS[kind].why}", highlight=False, soft_wrap=True)
    for operator, said in hunt.errors.items():
        console.print(
            f"[red]✗[/] [bold]{escape(operator)}[/] raises {escape(said)}",
            highlight=False,
            soft_wrap=True,
        )
    color = "red" if hunt.survivors or hunt.errors else "green"
    console.print(
        f"[bold {color}]{hunt.caught} of {len(hunt.verdicts)} mutants caught[/] "
        f"in {hunt.seconds:.1f} s",
        highlight=False,
    )


def _table(
    columns: Iterable[str], rows: Mapping[str, Sequence[Share]], *, brief: bool = False
) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0) if brief else (0, 1))
    table.add_column("operator", no_wrap=True, max_width=32)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for operator, row in rows.items():
        table.add_row(escape(operator), *(_shown(share, brief) for share in row))
    return table


def _shown(share: Share, brief: bool) -> str:
    if share is None:
        return "[dim]·[/]"
    caught, planted = share
    if caught < planted:
        return f"[red]{caught}/{planted}[/]"
    return str(planted) if brief else f"{caught}/{planted}"
