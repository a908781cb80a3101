"""`python -m tests.interop.zoo hf:albert timm:test_resnet`: public models beside PyTorch."""

import contextlib
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from .running import context, Journal, limited


ALL = ["values", "graphs", "training", "samples", "hessian", "torchax"]
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def compare(
    models: Annotated[list[str] | None, typer.Argument(help="Such as `hf:albert`.")] = None,
    list_: Annotated[
        Path | None, typer.Option("--list", help="A file of them, a line each.")
    ] = None,
    check: Annotated[list[str] | None, typer.Option(help="One of: " + ", ".join(ALL))] = None,
    journal: Annotated[Path | None, typer.Option(help="Where outcomes are kept.")] = None,
    seconds: Annotated[float, typer.Option(help="Of a processor, for a check.")] = 600,
    gigabytes: Annotated[float, typer.Option(help="For a check.")] = 7,
):
    """Imports public models with random weights, and says how far they are from PyTorch's.

    `hf:NAME` is a small configuration of transformers, `timm:NAME` a model of timm, `tv:NAME` one
    of torchvision. Errors are the greatest, relative to the greatest entry.
    """
    named = [*(models or []), *(list_.read_text().split() if list_ else [])]
    processes, console, outcomes = context(), Console(), []
    with contextlib.closing(Journal(journal)) as kept:
        for name in check or ALL[:1]:
            for spec in named:
                if not kept.has(spec, name):
                    outcomes.append(limited(processes, spec, name, seconds, gigabytes))
                    kept.add(outcomes[-1])
                    console.print(line(outcomes[-1]), highlight=False, soft_wrap=True)
    console.print(summary(outcomes))


def line(outcome):
    """An outcome in words."""
    errors = ", ".join(f"{name} {x:.0e}" for name, x in outcome.errors.items())
    notes = ", ".join(f"{name}: {x}" for name, x in outcome.notes.items() if x != "")
    said = f"{outcome.model} {outcome.check}: {outcome.outcome}; {errors}"
    return f"{said}; {notes}; {outcome.seconds:.0f} s, {outcome.gigabytes:.1f} GB"


def summary(outcomes):
    """How many of each check came out how."""
    table = Table("check", "outcome", "models")
    found = [(each.check, each.outcome) for each in outcomes]
    for pair in dict.fromkeys(found):
        table.add_row(*pair, str(found.count(pair)))
    return table


if __name__ == "__main__":
    app()
