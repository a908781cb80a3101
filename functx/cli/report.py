"""A run's results as JSON and as a page that needs no other file."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import jax
import jinja2

import functx
from functx.testing import CHECKS, OpInfo
from functx.testing.checks import (
    batching,
    composition,
    curves,
    forward,
    graphs,
    linearity,
    randomness,
    scanning,
)
from functx.testing.checks.compare import DERIVATIVES

from .runner import check_groups, declared_gaps, function_of, Plan, Result, totals
from .selection import families_of


FORMAT = "functx check"
VERSION = 1  # of what `SCHEMA` describes; another where a reader of this one would be wrong
SCHEMA = Path(__file__).parent / "check.schema.json"

# What checks hold against each other; those of others are equal, or within bounds of their own.
_COMPARED = {
    forward.check_reference: "reference",
    forward.check_jit: "values",
    forward.check_x64_off: "values",
    forward.check_layouts: "values",
    batching.check_vmap: "values",
    batching.check_vmap_every_dim: "values",
    batching.check_vmap_eager: "values",
    randomness.check_keys: "values",
    randomness.check_lanes: "values",
    composition.check_batched: "derivatives",
    composition.check_batched_cotangents: "derivatives",
    composition.check_over_vmap: "derivatives",
    linearity.check_pullback_at_zero: "derivatives",
    scanning.check_hessian_in_scan: "derivatives",
    graphs.check_graph: "values",
    graphs.check_partition: "derivatives",
    curves.check_jet: "derivatives",
}
# A cell's status in a letter; a dot stands for a check that was not run.
_LETTERS = {"pass": "p", "fail": "f", "gap": "g", "unexpected pass": "u"}


def as_data(plan: Plan, results: Sequence[Result], *, planned: int, seconds: float) -> dict:
    """The whole run, ready for JSON: what `SCHEMA` describes."""
    used = {result.check for result in results}
    seen = {result.operator for result in results}
    return {
        "format": FORMAT,
        "version": VERSION,
        "functx": functx.__version__,
        "jax": jax.__version__,
        "date": time.strftime("%Y-%m-%d %H:%M:%S"),
        "settings": {
            "device": plan.device,
            "profile": plan.profile,
            "dtypes": list(dict.fromkeys(result.dtype for result in results)),
            "checks": list(dict.fromkeys(result.check for result in results)),
            "samples": plan.samples,
            "x64": plan.x64,
            "asked": {"dtypes": plan.dtypes, "checks": plan.checks},
        },
        "complete": len(results) == planned,
        "planned": planned,
        "seconds": round(seconds, 3),
        "totals": totals(results),
        "declared_gaps": declared_gaps(plan.infos),
        "checks": _checks(name for name in CHECKS if name in used),
        "operators": {info.id: _entry(info) for info in plan.infos if info.id in seen},
        "cells": [_rounded(dataclasses.asdict(result)) for result in results],
    }


def _checks(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """What each check asserts and compares, by name."""
    return {
        name: {
            "group": group,
            "summary": CHECKS[name].summary,
            "compares": _COMPARED.get(function_of(name), "other"),
        }
        for group, names in check_groups(names).items()
        for name in names
    }


def _entry(info: OpInfo) -> dict[str, Any]:
    near = info.cancelling
    of = "largest"
    if near is not None and (near.elementwise or near.of is not None):
        of = "elements" if near.of is None else "entry"
    return {
        "name": info.name,
        "family": next(iter(families_of(info)), ""),
        "floor": near and {"ulps": near.floor, "of": of, "reason": near.reason},
    }


def _rounded(cell: dict[str, Any]) -> dict[str, Any]:
    return cell | {"seconds": round(cell["seconds"], 4)}


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Writes what `as_data` returned, a cell to a line."""
    head = json.dumps(data | {"cells": []}, indent=1, ensure_ascii=False)
    cells = ",\n".join(json.dumps(cell, ensure_ascii=False) for cell in data["cells"])
    write_text(path, head.replace('"cells": []', f'"cells": [\n{cells}\n ]', 1) + "\n")


def write_html(path: Path, data: dict[str, Any]) -> None:
    """Writes the page: the matrix, filters, and each cell's sample, tolerance, error and time."""
    write_text(path, rendered("report.html", data=data, condensed=condensed(data)))


def rendered(template: str, **values: Any) -> str:
    """A page of `functx/cli/templates`."""
    environment = jinja2.Environment(loader=jinja2.PackageLoader("functx.cli"), autoescape=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    return environment.get_template(template).render(**values)


def _again(settings: dict[str, Any]) -> str:
    """The options with which a run repeats this one."""
    words = ""
    for name, default in (("profile", "quick"), ("device", "cpu"), ("samples", None)):
        if settings[name] != default:
            words += f" --{name} {settings[name]}"
    return words if settings["x64"] else f"{words} --no-x64"


def write_text(path: Path, text: str) -> None:
    """Writes a file, and the folder where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # What UTF-8 cannot say, parts of file names for one, JSON says as \udc80.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def condensed(data: dict[str, Any]) -> dict[str, Any]:
    """The run in few bytes: a row for each entry and dtype, a letter for each cell.

    Figures of a row's cells are in the order of its letters. Only cells that do not pass have
    texts, and each text is there once.
    """
    checks, operators = list(data["checks"]), list(data["operators"])
    places = {name: i for i, name in enumerate(checks)}
    dtypes = {name: i for i, name in enumerate(data["settings"]["dtypes"])}
    numbers = {name: i for i, name in enumerate(operators)}
    strings: dict[str, int] = {"": 0}
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in data["cells"]:
        groups.setdefault((cell["operator"], cell["dtype"]), []).append(cell)
    rows, texts = [], []
    for row, ((operator, dtype), cells) in enumerate(groups.items()):
        letters = ["."] * len(checks)
        cells.sort(key=lambda cell: places[cell["check"]])
        for cell in cells:
            place = places[cell["check"]]
            letters[place] = _LETTERS[cell["status"]]
            said = [cell[name] for name in ("sample", "error", "traceback", "reason")]
            if any(said):
                texts.append([row, place, *(strings.setdefault(s, len(strings)) for s in said)])
        times = [round(1e4 * cell["seconds"]) for cell in cells]
        rows.append(
            [
                numbers[operator],
                dtypes[dtype],
                max(cell["ulps"] for cell in cells),  # none is known of one that a process died in
                "".join(letters).rstrip("."),
                times[0] if len(set(times)) == 1 else times,
                [cell["samples"] for cell in cells],
            ]
        )
    return {
        "checks": [[name, *check.values()] for name, check in data["checks"].items()],
        "operators": [[name, *entry.values()] for name, entry in data["operators"].items()],
        "dtypes": list(dtypes),
        "derivatives": {name: DERIVATIVES.within(name) for name in dtypes},
        "again": _again(data["settings"]),
        "rows": rows,
        "texts": texts,
        "strings": list(strings),
    }
