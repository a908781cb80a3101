"""A run's results as JSON and as a page that needs nothing but itself."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jinja2

import functx
from functx.testing import CHECKS

from .runner import check_groups, Plan, Result, totals


def as_data(plan: Plan, results: Sequence[Result], *, planned: int, seconds: float) -> dict:
    """The whole run, ready for JSON."""
    return {
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
        },
        "complete": len(results) == planned,
        "planned": planned,
        "seconds": round(seconds, 3),
        "totals": totals(results),
        "cells": [_rounded(dataclasses.asdict(result)) for result in results],
    }


def _rounded(cell: dict[str, Any]) -> dict[str, Any]:
    return cell | {"seconds": round(cell["seconds"], 4)}


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Writes `as_data`'s result."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1) + "\n")


def write_html(path: Path, data: dict[str, Any]) -> None:
    """Writes the page: the matrix, a filter, and each cell's sample, ulps and error."""
    loader = jinja2.PackageLoader("functx.cli")
    page = jinja2.Environment(loader=loader, autoescape=True).get_template("report.html")
    used = {cell["check"] for cell in data["cells"]}
    checks = [name for name in CHECKS if name in used]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        page.render(
            data=data,
            groups=check_groups(checks),
            summaries={name: CHECKS[name].summary for name in checks},
            compact=_compact(data["cells"], checks),
        )
    )


def _compact(cells: list[dict[str, Any]], checks: list[str]) -> dict[str, Any]:
    """The cells with every repeated string named once: pages of all operators stay small."""
    strings: dict[str, int] = {}

    def number(text: str) -> int:
        return strings.setdefault(text, len(strings))

    rows = []
    for cell in cells:
        texts = [cell[name] for name in ("operator", "dtype", "check", "status")]
        texts += [cell[name] for name in ("sample", "error", "traceback", "reason")]
        figures = [cell["seconds"], cell["samples"], cell["ulps"]]
        rows.append([*map(number, texts), *figures])
    return {"strings": list(strings), "rows": rows, "checks": checks}
