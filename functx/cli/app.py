"""The commands. What runs one is imported when it runs, JAX with it: help comes at once."""

from __future__ import annotations

import importlib
import inspect
import platform
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer

from .requests import CheckRequest, MutantsRequest, Pattern
from .usage import UsageError


app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="PyTorch's operators and function transforms on JAX.",
)

Request = TypeVar("Request")


def _print_version(asked: bool) -> None:
    if asked:
        version = sys.modules["functx"].__version__
        typer.echo(
            f"functx {version} (JAX {metadata.version('jax')}, Python {platform.python_version()})"
        )
        raise typer.Exit


@app.callback()
def _options_of_all(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Show the versions of functx, JAX and Python, and exit.",
        ),
    ] = False,
) -> None:
    pass


@app.command()
def ops(pattern: Pattern = None) -> None:
    """Lists operators, or describes the one that is named exactly."""
    _exit_with(lambda: _imported("ops_command").list_operators(pattern, _console()))


@app.command()
def lowerings(pattern: Pattern = None) -> None:
    """Lists what operators are compiled from on CPUs, CUDA and TPUs, where that differs.

    None of the platforms is needed: programs are lowered, not run.
    """
    _exit_with(lambda: _imported("lowerings_command").list_lowerings(pattern, _console()))


def _command(options: type[Request]) -> Callable[[Callable[[Request], int]], None]:
    """Makes a command whose options are the fields of a class, and whose help is the docstring."""

    def register(run: Callable[[Request], int]) -> None:
        def invoke(**values: Any) -> None:
            _exit_with(lambda: run(options(**values)))

        vars(invoke)["__signature__"] = inspect.signature(options, eval_str=True)
        paragraphs = (inspect.getdoc(run) or "").split("\n\n")
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        app.command(run.__name__, help=text)(invoke)

    return register


@_command(CheckRequest)
def check(request: CheckRequest) -> int:
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
    that passed is gone.

    What --json writes is described by functx/cli/check.schema.json, in JSON Schema.
    """
    return _imported("check_command").run_check(request, _console())


@_command(MutantsRequest)
def mutants(request: MutantsRequest) -> int:
    """Plants mistakes in operators, one at a time, and shows which of them no check catches.

    Exit status: 0 if a check catches each, 1 if one survives or an entry raises, 2 for a word that
    names nothing or a file that cannot be written, 4 if a file could not be written when the run
    was over, 130 if stopped by Ctrl-C.
    """
    return _imported("mutants_command").run_mutants(request, _console())


@app.command()
def tour(
    out: Annotated[Path, typer.Option(help="The folder for pictures.")] = Path("functx-tour"),
    seed: Annotated[int, typer.Option(help="Of every random choice.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer steps, worse nets.")] = False,
) -> None:
    """Trains and takes apart a small net on handwritten digits, in a minute or so.

    The scripts that it runs are those of the folder examples/tour.
    """
    _exit_with(lambda: _imported("tour").run_tour(out, _console(), seed=seed, quick=quick))


def _imported(name: str) -> Any:
    return importlib.import_module(f"functx.cli.{name}")


def _console() -> Any:
    return _imported("console").make_console()


def _exit_with(run: Callable[[], int | None]) -> NoReturn:
    """Exits with the status that a command returns; with 2 and a line where it cannot be done."""
    try:
        status = run()
    except UsageError as error:
        typer.echo(f"functx: {error}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(status or 0)
