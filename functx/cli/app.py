"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from .checking import Request, run_check
from .listing import list_operators
from .lowerings import list_lowerings
from .mutating import Hunting, run_mutants
from .selection import UsageError
from .settings import configure
from .tour import run_tour


app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="PyTorch's operators and function transforms on JAX.",
)

Pattern = Annotated[
    str | None, typer.Argument(help="A name, a glob or a regular expression found in the name.")
]


@app.command()
def ops(pattern: Pattern = None) -> None:
    """Lists operators, or describes the one that is named exactly."""
    configure()
    try:
        list_operators(pattern, Console())
    except UsageError as error:
        _refuse(error)


@app.command()
def lowerings(pattern: Pattern = None) -> None:
    """Lists what operators are compiled from on CPUs, CUDA and TPUs, where that differs.

    None of the platforms is needed: programs are lowered, not run.
    """
    configure()
    try:
        list_lowerings(pattern, Console())
    except UsageError as error:
        _refuse(error)


@app.command()
def check(
    pattern: Pattern = None,
    checks: Annotated[str | None, typer.Option(help="reference,vmap or all.")] = None,
    dtypes: Annotated[str | None, typer.Option(help="float32,float64 or all.")] = None,
    profile: Annotated[str, typer.Option(help="How much: quick, full or exhaustive.")] = "quick",
    device: Annotated[str, typer.Option(help="cpu, gpu or cuda:0.")] = "cpu",
    samples: Annotated[int | None, typer.Option(help="At most so many for each cell.")] = None,
    jobs: Annotated[int, typer.Option(help="How many processes run checks.")] = 1,
    report: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write a page of the results.")
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="Write the results as JSON (check.schema.json)."),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the results as JUnit XML.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(dir_okay=False, help="An earlier run's JSON: show what changed.")
    ] = None,
    shard: Annotated[str | None, typer.Option(help="A part of the entries: 1/8 to 8/8.")] = None,
    journal: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="Where results are kept: run again, it goes on."),
    ] = None,
    done: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="A journal of another part: its cells are not run, and count as they came out.",
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="After so many, no other entry is begun.")
    ] = None,
    x64: Annotated[bool, typer.Option("--x64/--no-x64", help="64-bit types.")] = True,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Plant mistakes, and show what catches each.")
    ] = False,
) -> None:
    """Checks operators against references, loops, finite differences and each other.

    Of the profiles, quick looks at every operator and option once, full at all compositions and
    dtypes, exhaustive at all samples. Checks and dtypes that are named run wherever they apply.

    Long runs go in pieces: with --journal FILE, a run that ended early, whatever ended it, goes on
    where it was when the command is given again, and what failed is run again; --minutes ends it,
    --shard 2/8 takes a part, and --done FILE counts the cells in another part's journal in.

    Exit status: 0 if all cells pass or are declared gaps, or the part of --shard holds none, 1 if
    one fails or a gap passes, 2 for a word that names nothing, a file that cannot be read as what
    it should be or cannot be written, 3 if --minutes left cells to be run, 4 if a file could not be
    written when the run was over, 130 if stopped by Ctrl-C. With --compare: 1 as well if a cell
    that passed is gone. With --mutants: 1 if a planted mistake survives all checks.

    What --json writes is described by functx/cli/check.schema.json, in JSON Schema.
    """
    if mutants:
        others = {"checks": checks, "dtypes": dtypes, "samples": samples, "junit": junit}
        others |= {"compare": compare, "shard": shard, "journal": journal}
        others |= {"done": done or None, "minutes": minutes}
        others |= {"profile": None if profile == "quick" else profile, "no-x64": None if x64 else 1}
        for name, value in others.items():
            if value is not None:
                taken = "--mutants takes --device, --jobs, --json and --report"
                _refuse(UsageError(f"{taken}, not --{name}"))
        raise typer.Exit(_hunt(Hunting(pattern, device, jobs, json, report)))
    request = Request(
        pattern,
        checks,
        dtypes,
        device,
        samples,
        jobs,
        x64=x64,
        profile=profile,
        report=report,
        json=json,
        junit=junit,
        compare=compare,
        shard=shard,
        journal=journal,
        done=tuple(done or ()),
        minutes=minutes,
    )
    try:
        status = run_check(request, Console())
    except UsageError as error:
        _refuse(error)
    raise typer.Exit(status)


@app.command()
def tour(
    out: Annotated[Path, typer.Option(help="The folder for pictures.")] = Path("functx-tour"),
    seed: Annotated[int, typer.Option(help="Of every random choice.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer steps, worse nets.")] = False,
) -> None:
    """Trains and takes apart a small net on handwritten digits, in a minute or so."""
    try:
        status = run_tour(out, Console(), seed=seed, quick=quick)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("matplotlib", "sklearn"):
            raise
        _refuse(UsageError(f"the tour needs {missing.name}; pip install 'functx[tour]'"))
    raise typer.Exit(status)


def _hunt(request: Hunting) -> int:
    try:
        return run_mutants(request, Console())
    except UsageError as error:
        _refuse(error)


def _refuse(error: UsageError) -> NoReturn:
    typer.echo(f"functx: {error}", err=True)
    raise typer.Exit(2)
