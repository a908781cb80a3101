"""The options of `functx check` and of `functx mutants`: what is typed, and its defaults.

The command line is made from these classes. They import nothing that takes time, since help must
come at once.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from .usage import UsageError


Pattern: TypeAlias = Annotated[
    str | None,
    typer.Argument(help="A name, a family, a glob or a regular expression found in the name."),
]
DeviceOption: TypeAlias = Annotated[str, typer.Option(help="cpu, gpu or cuda:0.")]
Jobs: TypeAlias = Annotated[int, typer.Option(help="How many processes run checks.")]
Report: TypeAlias = Annotated[
    Path | None, typer.Option(dir_okay=False, help="Write a page of the results.")
]

JournalOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        dir_okay=False,
        help="Where results are kept: run again, it runs what is left or has changed.",
        rich_help_panel="Long runs",
    ),
]


@dataclasses.dataclass(frozen=True)
class CheckRequest:
    """What `functx check` is asked for."""

    pattern: Pattern = None
    checks: Annotated[str | None, typer.Option(help="reference,vmap or all.")] = None
    dtypes: Annotated[str | None, typer.Option(help="float32,float64 or all.")] = None
    profile: Annotated[str, typer.Option(help="How much: quick, full or exhaustive.")] = "quick"
    device: DeviceOption = "cpu"
    samples: Annotated[int | None, typer.Option(help="At most so many for each cell.")] = None
    jobs: Jobs = 1
    report: Report = None
    json: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="Write the results as JSON (check.schema.json)."),
    ] = None
    junit: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the results as JUnit XML.")
    ] = None
    compare: Annotated[
        Path | None, typer.Option(dir_okay=False, help="An earlier run's JSON: show what changed.")
    ] = None
    shard: Annotated[
        str | None,
        typer.Option(help="A part of the entries: 1/8 to 8/8.", rich_help_panel="Long runs"),
    ] = None
    journal: JournalOption = None
    done: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="A journal of another part: its cells are not run, and count as they came out.",
            rich_help_panel="Long runs",
        ),
    ] = None
    minutes: Annotated[
        float | None,
        typer.Option(help="After so many, no other entry is begun.", rich_help_panel="Long runs"),
    ] = None
    x64: Annotated[bool, typer.Option("--x64/--no-x64", help="64-bit types.")] = True

    def __post_init__(self) -> None:
        _require_one(self.jobs, "--jobs")
        _require_one(self.samples, "--samples")
        if self.minutes is not None and not self.minutes > 0:
            raise UsageError(f"--minutes must be more than 0, got {self.minutes:g}")

    @property
    def output_files(self) -> dict[str, Path | None]:
        """The files to write, by option."""
        names = ("report", "json", "junit", "journal")
        return {f"--{name}": getattr(self, name) for name in names}


@dataclasses.dataclass(frozen=True)
class MutantsRequest:
    """What `functx mutants` is asked for."""

    pattern: Pattern = None
    device: DeviceOption = "cpu"
    jobs: Jobs = 1
    report: Report = None
    json: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the results as JSON.")
    ] = None
    journal: JournalOption = None

    def __post_init__(self) -> None:
        _require_one(self.jobs, "--jobs")

    @property
    def output_files(self) -> dict[str, Path | None]:
        """The files to write, by option."""
        return {"--report": self.report, "--json": self.json, "--journal": self.journal}


def _require_one(value: int | None, option: str) -> None:
    if value is not None and value < 1:
        raise UsageError(f"{option} must be at least 1, got {value}")
