"""The timeline of a report as a picture of Matplotlib's."""

from __future__ import annotations

import importlib
from typing import Any, TYPE_CHECKING

from functx._core import fail

from .timeline import series_of


if TYPE_CHECKING:
    from .report import MemoryReport


_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "bytes"))


def plotted(report: MemoryReport, ax: Any, largest: int) -> Any:
    """Draws the report into `ax`, or new axes."""
    if ax is None:
        ax = required("MemoryReport.plot", "matplotlib.pyplot").subplots(figsize=(8, 4))[1]
    end = len(report.steps) - 1
    scale, unit = next(pair for pair in _UNITS if report.peak_bytes >= pair[0] or pair[0] == 1)
    found = series_of(report.buffers, report.at_peak, end, largest)
    edges = range(end + 2)
    heights = [[y / scale for y in (*series.bytes, series.bytes[-1])] for series in found]
    if heights:  # of a program without any value there are none
        labels = [series.label for series in found]
        colors = ["0.75", *(f"C{i % 10}" for i in range(len(found) - 1))]
        ax.stackplot(edges, heights, labels=labels, colors=colors, step="post", linewidth=0)
    peak = report.peak_bytes / scale
    ax.axhline(peak, color="0.3", linewidth=0.8, linestyle=":")
    ax.annotate(f"{peak:,.1f} {unit}", (0, peak), (2, 2), textcoords="offset points", fontsize=8)
    ax.set(xlabel="step of the program", ylabel=f"alive, {unit}", title=report.name)
    ax.set_xlim(0, end + 1)
    ax.set_ylim(0, 1.12 * peak or 1)
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return ax


def required(who: str, module: str) -> Any:
    """A module of an optional package."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        hint = "pip install 'functx[cli]' brings it"
        fail(who, f"it needs the package `{package}`", hint=hint, error=ImportError)
