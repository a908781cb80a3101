"""`functx lowerings`: in what an operator's program for one platform is not that for another."""

from __future__ import annotations

import re

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from functx.testing import op_db, OpInfo
from functx.testing.checks.derived import looked_at
from functx.testing.checks.forward import sample_dtype
from functx.testing.checks.lowering import lowered, plain_program, PLATFORMS, targets_of
from functx.testing.checks.programs import let_go

from .console import progress
from .selection import names_of, select


def list_lowerings(pattern: str | None, console: Console) -> None:
    """Lowers each entry's first sample and its pullback for all platforms, shows what differs."""
    chosen = select(pattern, op_db, names_of)
    table = Table(box=None, pad_edge=False)
    table.add_column("operator", no_wrap=True, style="bold", max_width=36)
    for platform in PLATFORMS:
        table.add_column(f"on {platform}", overflow="fold")
    nowhere = 0
    with progress(console) as bar:
        task = bar.add_task("starting", total=len(chosen), failing=0)
        for info in chosen:
            bar.update(task, advance=1, failing=nowhere, description=info.id)
            found = differences(info)
            if found is not None:
                nowhere += any(isinstance(names, str) for names in found.values())
                table.add_row(escape(info.id), *_row(found))
            let_go()
    console.print(table, highlight=False)
    console.print(
        f"{table.row_count} of {len(chosen)} entries differ by platform; "
        f"{nowhere} do not lower for all of {', '.join(PLATFORMS)}",
        highlight=False,
    )


def differences(info: OpInfo) -> dict[str, set[str] | str] | None:
    """By platform, what an entry's program has that not all others have; None if all are alike.

    That are operations, and as `@name` what is called from libraries. A string is the error of
    lowering for the platform.
    """
    samples = looked_at(info, sample_dtype(info))
    program = plain_program(info, next(sample for sample in samples if not sample.derived))
    texts: dict[str, str] = {}
    errors: dict[str, str] = {}
    for platform in PLATFORMS:
        try:
            texts[platform] = lowered(program, platform)
        except NotImplementedError as error:
            errors[platform] = str(error)
    if not errors and len(set(texts.values())) == 1:
        return None
    named = {platform: _operations(text) for platform, text in texts.items()}
    shared = set.intersection(*named.values())
    return {p: errors[p] if p in errors else named[p] - shared for p in PLATFORMS}


def _operations(text: str) -> set[str]:
    called = {f"@{name}" for name in targets_of(text)}
    named = set(re.findall(r"(?<![#!\w])(?:stablehlo|chlo)\.([a-z]\w*)", text))
    return called | (named - {"custom_call", "return"})


def _row(found: dict[str, set[str] | str]) -> list[str]:
    if not any(found.values()):
        return ["[dim]the same, in other order or number[/]"] * len(found)
    return [_words(names) for names in found.values()]


def _words(names: set[str] | str) -> str:
    if isinstance(names, str):
        return f"[red]does not lower: {escape(names)}[/]"
    return escape(", ".join(sorted(names))) or "[dim]·[/]"
