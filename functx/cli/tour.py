"""`functx tour`: finds the scripts of `examples/tour` and runs them all."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from rich.console import Console

from .settings import configure


PACKAGE = Path(__file__).resolve().parents[1]


def tour_folder() -> Path:
    """The folder `examples/tour`: inside of an installed package, beside that of a checkout."""
    for base in (PACKAGE, PACKAGE.parent):
        if (base / "examples" / "tour" / "whole_tour.py").is_file():
            return base / "examples" / "tour"
    raise FileNotFoundError(f"functx was installed in {PACKAGE} without its folder of examples")


def run_tour(out: Path, console: Console, *, seed: int, quick: bool) -> int:
    """Runs the tour into the folder `out`; 0, or 1 if one of its checks fails."""
    configure(x64=False, strict=False)
    sys.path.insert(0, str(tour_folder()))
    whole_tour = importlib.import_module("whole_tour")
    return whole_tour.run_tour(out, console, seed=seed, quick=quick)
