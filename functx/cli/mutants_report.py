"""The results of a hunt for mutants, as JSON and as a page that needs no other file."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import jax

import functx
from functx.testing.mutants import GROUPS, KINDS, Verdict

from .report import rendered, write_text


Share: TypeAlias = tuple[int, int] | None  # how many were caught of how many; None: of none


@dataclasses.dataclass(frozen=True)
class Hunt:
    """A hunt for mutants that is over or was stopped."""

    verdicts: Sequence[Verdict]
    errors: Mapping[str, str]  # by entry: what it raised while its mutants were planted or hunted
    device: str
    seconds: float
    entries: int  # that were hunted
    planned: int  # that were asked for

    @property
    def caught(self) -> int:
        """How many mutants were caught."""
        return sum(v.caught for v in self.verdicts)

    @property
    def survivors(self) -> list[Verdict]:
        """The verdicts on the mutants that no check caught."""
        return [v for v in self.verdicts if not v.caught]


def write_json(path: Path, hunt: Hunt) -> None:
    """Writes each verdict, and what was raised."""
    data = {
        "planted": len(hunt.verdicts),
        "caught": hunt.caught,
        "errors": dict(hunt.errors),
        "mutants": [dataclasses.asdict(v) for v in hunt.verdicts],
    }
    write_text(path, json.dumps(data, indent=1) + "\n")


def write_html(path: Path, hunt: Hunt) -> None:
    """Writes the page: the score, operators by groups of mistakes, survivors, and each kind."""
    page = rendered(
        "mutants.html",
        hunt=hunt,
        groups=groups_of(hunt.verdicts),
        rows=shares(hunt.verdicts),
        kinds=_kinds(hunt.verdicts),
        why={name: kind.why for name, kind in KINDS.items()},
        versions=(functx.__version__, jax.__version__),
        date=time.strftime("%Y-%m-%d %H:%M:%S"),
    )
    write_text(path, page)


def groups_of(verdicts: Iterable[Verdict]) -> list[str]:
    """The groups of mistakes of which at least one was planted."""
    planted = {KINDS[v.kind].group for v in verdicts}
    return [group for group in GROUPS if group in planted]


def shares(verdicts: Sequence[Verdict]) -> dict[str, list[Share]]:
    """How many mutants were caught out of how many, by operator and group; None without any."""
    rows: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        rows.setdefault(verdict.operator, []).append(verdict)
    groups = groups_of(verdicts)
    of = lambda row, group: _share(v for v in row if KINDS[v.kind].group == group)
    return {name: [of(row, group) for group in groups] for name, row in rows.items()}


def _share(verdicts: Iterable[Verdict]) -> Share:
    caught = [v.caught for v in verdicts]
    return (sum(caught), len(caught)) if caught else None


def _kinds(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    every = {name: _share(v for v in verdicts if v.kind == name) for name in KINDS}
    return [
        {"name": name, "group": KINDS[name].group, "why": KINDS[name].why, "share": share}
        for name, share in every.items()
        if share is not None
    ]
