"""`functx tour`: finds the scripts of `examples/tour` and runs them all."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from rich.console import Console

from .settings import configure
from .usage import UsageError


PACKAGE = Path(__file__).resolve().parents[1]


def tour_folder() -> Path:
    """The folder `examples/tour`: inside of an installed package, beside that of a checkout."""
    for base in (PACKAGE, PACKAGE.parent):
        if (base / "examples" / "tour" / "whole_tour.py").is_file():
            return base / "examples" / "tour"
    raise UsageError(f"the tour is not installed with {PACKAGE}; its scripts are in examples/tour")


def run_tour(out: Path, console: Console, *, seed: int, quick: bool) -> int:
    """Runs the tour into the folder `out`; 0, or 1 if one of its checks fails."""
    configure(x64=False, strict=False)
    sys.path.insert(0, str(tour_folder()))
    try:
        whole_tour = importlib.import_module("whole_tour")
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("matplotlib", "sklearn"):
            raise
        words = f"the tour needs {missing.name}; pip install 'functx[tour]'"
        raise UsageError(words) from None
    return whole_tour.run_tour(out, console, seed=seed, quick=quick)
