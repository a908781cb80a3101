"""The timeline of a report as a picture of Matplotlib's."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from .required import required
from .timeline import INPUTS, OTHERS, series_of, sized, unit_of


if TYPE_CHECKING:
    from .report import MemoryReport


_GREYS = {**dict.fromkeys(INPUTS, "0.8"), OTHERS: "0.55"}


def plotted(report: MemoryReport, ax: Any, largest: int) -> Any:
    """Draws the report into `ax`, or new axes."""
    if ax is None:
        ax = required("MemoryReport.plot", "matplotlib.pyplot").subplots(figsize=(8, 4))[1]
    end = len(report.steps) - 1
    scale, unit = unit_of(report.peak_bytes)
    found = series_of(report.buffers, report.at_peak, end, largest)
    edges = range(end + 2)
    heights = [[y / scale for y in (*series.bytes, series.bytes[-1])] for series in found]
    if heights:  # of a program without any value there are none
        labels = [series.label for series in found]
        made = (f"C{i % 10}" for i in range(len(found)))
        colors = [_GREYS.get(label) or next(made) for label in labels]
        ax.stackplot(edges, heights, labels=labels, colors=colors, step="post", linewidth=0)
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    peak = report.peak_bytes / scale
    ax.axhline(peak, color="0.3", linewidth=0.8, linestyle=":")
    ax.annotate(sized(report.peak_bytes), (0, peak), (2, 2), textcoords="offset points", fontsize=8)
    ax.set(xlabel="step of the program", ylabel=f"alive, {unit}", title=report.name)
    ax.set_xlim(0, end + 1)
    ax.set_ylim(0, 1.12 * peak or 1)
    return ax
