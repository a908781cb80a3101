"""`functx lowerings`: how an operator's programs differ between platforms."""

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
from .selection import select_entries


def list_lowerings(pattern: str | None, console: Console) -> None:
    """Lowers each entry's first sample and its pullback for all platforms, shows what differs."""
    chosen = select_entries(pattern, op_db)
    table = Table(box=None, pad_edge=False)
    table.add_column("operator", no_wrap=True, style="bold", max_width=36)
    table.add_column("platform", no_wrap=True)
    table.add_column("operations that not all platforms have", overflow="fold")
    differing = nowhere = 0
    with progress(console) as bar:
        task = bar.add_task("starting", total=len(chosen), failing=0)
        for info in chosen:
            bar.update(task, advance=1, failing=nowhere, description=info.id)
            found = differences(info)
            if found is not None:
                nowhere += any(isinstance(names, str) for names in found.values())
                differing += 1
                for i, (platform, words) in enumerate(_rows(found)):
                    table.add_row("" if i else escape(info.id), platform, words)
            let_go()
    console.print(table, highlight=False)
    console.print(
        f"{differing} of {len(chosen)} entries differ by platform; "
        f"{nowhere} do not lower for all of {', '.join(PLATFORMS)}",
        highlight=False,
    )


def differences(info: OpInfo) -> dict[str, set[str] | str] | None:
    """By platform, what an entry's program has on some platforms only; None if all are alike.

    The differences are operations, and functions of libraries as `@name`. A string is the error of
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


def _rows(found: dict[str, set[str] | str]) -> list[tuple[str, str]]:
    if not any(found.values()):
        return [("all", "[dim]the same, in another order or number[/]")]
    return [(platform, _words(names)) for platform, names in found.items()]


def _words(names: set[str] | str) -> str:
    if isinstance(names, str):
        return f"[red]does not lower: {escape(names)}[/]"
    return escape(", ".join(sorted(names))) or "[dim]·[/]"
