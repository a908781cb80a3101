"""`functx ops`: the operators, and one of them in full."""

from __future__ import annotations

import inspect

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from functx._core import OpSpec, REGISTRY
from functx.testing import CHECKS, op_db, OpInfo

from .console import counted
from .selection import select


def list_operators(pattern: str | None, console: Console) -> None:
    """Describes the operator that `pattern` names exactly, else lists those that match it."""
    chosen = select(pattern, list(REGISTRY.values()), lambda spec: [spec.name, *spec.aliases])
    if len(chosen) == 1 and pattern in (chosen[0].name, *chosen[0].aliases):
        _describe(chosen[0], console)
        return
    table = Table(box=None, pad_edge=False, expand=console.is_terminal)
    table.add_column("operator", no_wrap=True, style="bold", max_width=34)
    table.add_column("signature", no_wrap=True, ratio=3)
    table.add_column("dtypes", no_wrap=True)
    table.add_column("aliases", no_wrap=True, ratio=2)
    table.add_column("gaps", justify="right")
    for spec in sorted(chosen, key=lambda spec: spec.name):
        gaps = sum(len(info.expected_failures) for info in _entries(spec))
        table.add_row(
            escape(spec.name),
            escape(short_signature(spec)),
            spec.accepts.name.lower().replace("_", " "),
            escape(", ".join(spec.aliases)),
            f"[yellow]{gaps}[/]" if gaps else "0",
        )
    console.print(table, highlight=False)
    console.print(
        f"{counted(len(chosen), 'operator')}, {counted(len(CHECKS), 'check')}", highlight=False
    )


def short_signature(spec: OpSpec) -> str:
    """The parameters without annotations: `(input, dim=None, *, dtype=None)`."""
    every = inspect.signature(spec.rule).parameters.values()
    public = [p for p in every if not p.name.startswith("_")]
    plain = [p.replace(annotation=p.empty) for p in public]
    return str(inspect.Signature(plain))


class _Bare(str):
    """An annotation that is shown as written, without quotes."""

    __repr__ = str.__str__


def full_signature(spec: OpSpec) -> str:
    """The parameters and the result with their annotations."""
    signature = inspect.signature(spec.rule)
    named = [p.replace(annotation=_Bare(p.annotation)) for p in signature.parameters.values()]
    shown = inspect.Signature(named)
    return f"{shown} -> {signature.return_annotation}"


def _entries(spec: OpSpec) -> list[OpInfo]:
    return [info for info in op_db if info.name == spec.name]


def _describe(spec: OpSpec, console: Console) -> None:
    def line(label: str, text: str) -> None:
        console.print(f"[dim]{label:<10}[/]{escape(text)}", highlight=False, soft_wrap=True)

    console.print(f"[bold]{escape(spec.name)}[/]{escape(full_signature(spec))}", highlight=False)
    console.print()
    console.print(escape(inspect.cleandoc(spec.rule.__doc__ or "")), highlight=False)
    console.print()
    line("dtypes", ", ".join(spec.accepts.value))
    line("promotion", spec.promote.name.lower().replace("_", " "))
    line("aliases", ", ".join(spec.aliases) or "none")
    line("gradient", "yes" if spec.differentiable else "no")
    if spec.random:
        line("random", f"takes a key as `{spec.key_parameter}`")
    for info in _entries(spec):
        dtype = "float32" if "float32" in info.accepted else info.accepted[0]
        samples = sum(1 for _ in info.samples(info.make(dtype)))
        names = [n for n, check in CHECKS.items() if check.applies(info, dtype)]
        words = f"{counted(samples, 'sample')} in {dtype}, {counted(len(names), 'check')}"
        line("entry", f"{info.id}: {words}")
        line("", " ".join(names))
        for gap in info.expected_failures:
            where = ", ".join(sorted(gap.dtypes | gap.devices)) or "everywhere"
            line("gap", f"{gap.check} ({where}): {gap.reason}")
