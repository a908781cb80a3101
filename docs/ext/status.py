"""How each operator's checks went, from the JSON of a run of `functx check`."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

from functx.cli.comparison import load_run
from functx.cli.runner import FAILING


WRITTEN = Path(__file__).parents[1] / "generated" / "check.json"
NOT_RUN = "not run"
_MOST = 5  # cells of a kind are named


def last_run(written: Path = WRITTEN) -> dict[str, Any] | None:
    """The run that `FUNCTX_CHECK_JSON` names, or that in `docs/generated/check.json`, if any."""
    named = os.environ.get("FUNCTX_CHECK_JSON")
    if named:
        return load_run(Path(named))
    return load_run(written) if written.exists() else None


def sentence(run: dict[str, Any] | None) -> str:
    """Which run it was, and its totals."""
    if run is None:
        return "They were **not run for this build**."
    settings, count = run["settings"], run["totals"]
    failing = sum(count[status] for status in FAILING)
    whole = "" if run["complete"] else f", {len(run['cells'])} of {run['planned']} cells"
    return (
        f"Here: profile {settings['profile']} on {settings['device']}{whole}, "
        f"functx {run['functx']} with JAX {run['jax']}, {run['date'].partition(' ')[0]}: "
        f"**{count['pass']} pass, {failing} fail, {count['gap']} gaps**."
    )


def statuses(run: dict[str, Any] | None) -> dict[str, str]:
    """In a few words, by operator."""
    if run is None:
        return {}
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for cell in run["cells"]:
        by_name[run["operators"][cell["operator"]]["name"]].append(cell)
    return {name: _status(cells) for name, cells in by_name.items()}


def _status(cells: list[dict[str, Any]]) -> str:
    """`✓ 40`, or `✗ 1 of 40: vmap float32`, or `○ 39, gaps: vmap float32`."""
    bad = [cell for cell in cells if cell["status"] in FAILING]
    gaps = [cell for cell in cells if cell["status"] == "gap"]
    if bad:
        return f"✗ {len(bad)} of {len(cells)}: {_named(bad)}"
    if gaps:
        return f"○ {len(cells) - len(gaps)}, gaps: {_named(gaps)}"
    return f"✓ {len(cells)}"


def _named(cells: list[dict[str, Any]]) -> str:
    words = list(dict.fromkeys(f"`{cell['check']}` {cell['dtype']}" for cell in cells))
    more = f" and {len(words) - _MOST} more" if len(words) > _MOST else ""
    return ", ".join(words[:_MOST]) + more
