"""`functx check --mutants`: plants mistakes in operators and shows which check caught each."""

from __future__ import annotations

import contextlib
import dataclasses
import functools as ft
import multiprocessing
import time
from collections.abc import Generator, Sequence
from concurrent.futures import as_completed, ProcessPoolExecutor
from pathlib import Path
from typing import TypeAlias

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from functx.testing import op_db, OpInfo
from functx.testing.checks.programs import let_go
from functx.testing.mutants import hunt_entry, KINDS, Verdict

from .console import progress
from .outputs import print_outputs, require_outputs, UNWRITTEN, write_outputs
from .planted import groups_of, Hunt, shares, write_html, write_json
from .selection import names_of, select, select_device, UsageError
from .settings import configure


@dataclasses.dataclass(frozen=True)
class Hunting:
    """The words of the command line."""

    pattern: str | None = None
    device: str = "cpu"
    jobs: int = 1
    json: Path | None = None
    report: Path | None = None


def run_mutants(request: Hunting, console: Console) -> int:
    """Does what was asked, and gives the exit status.

    0; 1 if a mutant survives or an entry raises; 4 if the file could not be written; 130 if
    stopped.
    """
    if request.jobs < 1:
        raise UsageError(f"--jobs must be at least 1, got {request.jobs}")
    infos = select(request.pattern, op_db, names_of)
    configure(device=request.device, shared=request.jobs > 1)
    select_device(request.device)
    outputs = {"--report": request.report, "--json": request.json}
    require_outputs(outputs)
    began, verdicts, errors, stopped = time.perf_counter(), {}, {}, False
    with progress(console) as bar:
        task = bar.add_task("planting", total=len(infos), failing=0)
        try:
            with contextlib.closing(_hunted(request, infos)) as hunted:
                for operator, found, error in hunted:
                    verdicts[operator] = found
                    errors |= {operator: error} if error else {}
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
        outputs, {option: ft.partial(write, hunt=hunt) for option, write in writers.items()}
    )
    _print(console, hunt)
    print_outputs(console, written, lost)
    if stopped or lost:
        return 130 if stopped else UNWRITTEN
    return int(bool(errors or hunt.survivors))


# An entry, the verdicts on its mutants, and what it raised while they were planted or hunted.
_Hunted: TypeAlias = tuple[str, list[Verdict], str]


def _hunted(request: Hunting, infos: Sequence[OpInfo]) -> Generator[_Hunted, None, None]:
    """What comes of each entry, as it comes."""
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


def _hunt(operator: str) -> _Hunted:
    info = next(info for info in op_db if info.id == operator)
    verdicts, said = [], ""
    try:
        verdicts = hunt_entry(info, op_db)
    except Exception as error:  # of the entry, as it draws its samples: the others go on
        said = f"{type(error).__name__}: {error}"
    let_go()
    return operator, verdicts, said


def _print(console: Console, hunt: Hunt) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("operator", no_wrap=True, max_width=32)
    for group in groups_of(hunt.verdicts):
        table.add_column(group.split()[0][:7], justify="right", no_wrap=True)
    for operator, row in shares(hunt.verdicts).items():
        table.add_row(escape(operator), *map(_share, row))
    console.print(table)
    console.print("[dim]caught/planted by kind  · does not apply[/]\n")
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


def _share(share: tuple[int, int] | None) -> str:
    if share is None:
        return "[dim]·[/]"
    caught, planted = share
    return f"{caught}/{planted}" if caught == planted else f"[red]{caught}/{planted}[/]"
