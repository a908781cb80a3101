"""The command line: `functx ops`, `check`, `mutants`, `lowerings` and `tour`."""

from __future__ import annotations

import importlib
import sys


_EXTRA = ("jinja2", "matplotlib", "rich", "typer")


def main() -> None:
    """Runs the command line; without the packages that it needs, says how to get them."""
    try:
        app = importlib.import_module("functx.cli.app")
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in _EXTRA:
            raise
        sys.exit(f"functx: the command line needs {missing.name}; pip install 'functx[cli]'")
    app.app(prog_name="functx")
