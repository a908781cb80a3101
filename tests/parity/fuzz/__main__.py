"""The command line: `python -m tests.parity.fuzz --seed 1 --ops 'sum|prod' --seconds 60`."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from functx.cli.selection import names_of, select, UsageError

from .judging import Finding
from .running import ENTRIES, Tally
from .workers import BLOCKS, cheaply, run, Turn


SPAN = 10**6  # blocks of one seed of the command line: their calls have seeds of their own


def main(
    seed: Annotated[int, typer.Option(min=0, help="Of the whole run.")] = 0,
    ops: Annotated[str | None, typer.Option(help="A name, a glob or a regular expression.")] = None,
    seconds: Annotated[float, typer.Option(min=0, help="About how long.")] = 60,
    jobs: Annotated[int, typer.Option(min=1, help="How many processes.")] = 2,
    json_lines: Annotated[
        Path | None, typer.Option("--json", help="Write each finding as a line of JSON.")
    ] = None,
    replay: Annotated[str | None, typer.Option(help="One call: OPERATOR:SEED.")] = None,
) -> None:
    """Calls functx's operators and PyTorch's alike, at random, and says in what they differ.

    Exit status: 0 if nothing undeclared is found, 1 otherwise, 2 for a word that names nothing,
    or if there was no time for a call.
    """
    console = Console(soft_wrap=True, highlight=False)
    cheaply()
    try:
        if replay is not None:
            raise typer.Exit(show(replay, console))
        chosen = [info.id for info in select(ops, list(ENTRIES.values()), names_of)]
    except UsageError as error:
        typer.echo(f"fuzz: {error}", err=True)
        raise typer.Exit(2) from None
    began, tally, found = time.monotonic(), Tally(), collections.defaultdict(list)
    with open(json_lines or "/dev/null", "w") as file, console.status("starting") as status:
        for report in run(turns(chosen, seed, began + seconds), jobs):
            tally += report.tally
            for finding in report.findings:
                found[finding.operator, finding.cause].append(finding)
                file.write(
                    json.dumps(dataclasses.asdict(finding) | {"cause": finding.cause}) + "\n"
                )
                file.flush()
            status.update(f"{tally.calls} calls, {len(found)} causes, at {report.turn.operator}")
    for (operator, cause), findings in sorted(found.items()):
        first = min(findings, key=lambda finding: len(finding.line))
        console.print(f"[bold]{operator}[/]  {escape(cause)}  [dim]×{len(findings)}[/]")
        console.print(f"    {escape(first.line[:400])}")
        console.print(f"    python -m tests.parity.fuzz --replay {escape(operator)}:{first.seed}")
    count = sum(map(len, found.values()))
    console.print(
        f"{tally.calls} calls of {len(chosen)} entries, {tally.taken} taken by both, "
        f"{tally.gradients} gradients; {tally.declared} declared differences, "
        f"{count} findings of {len(found)} causes in {time.monotonic() - began:.0f} s"
    )
    if tally.calls == 0:
        typer.echo(
            "fuzz: no call was made: give --seconds more, processes need some to start", err=True
        )
        raise typer.Exit(2)
    raise typer.Exit(int(count > 0))


def turns(operators: list[str], seed: int, until: float) -> Iterator[Turn]:
    """Some blocks of each operator, again and again while there is time."""
    for round_ in itertools.count():
        for operator in operators:
            if time.monotonic() > until:
                return
            yield Turn(operator, seed * SPAN + round_ * BLOCKS, BLOCKS)


def show(words: str, console: Console) -> int:
    """Makes one call and prints what comes of it on both sides."""
    from .running import configure, Fuzzing, outcomes

    operator, _, seed = words.rpartition(":")
    if operator not in ENTRIES or not seed.isdigit():
        raise UsageError(f"--replay takes OPERATOR:SEED, got {words!r}")
    configure()
    fuzzing = Fuzzing(ENTRIES[operator])
    call = fuzzing.draw(int(seed))
    console.print(escape(repr(call)))
    for who, outcome in zip(("functx", "PyTorch"), outcomes(call), strict=True):
        said = outcome.error if outcome.error is not None else outcome.whole
        console.print(f"{who}: {escape(repr(said))}")
    found: list[Finding] = list(fuzzing.seed(int(seed)))
    for finding in found:
        console.print(f"[bold]{escape(finding.kind)}[/] {escape(finding.what)}")
    return int(bool(found))


if __name__ == "__main__":
    typer.run(main)
