"""A report as a page that needs no other file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

import jax

from .required import required
from .timeline import BytesByStep, INPUTS, label_of_series, OTHERS, place, series_of, short, sized


if TYPE_CHECKING:
    from .report import AlikeBuffers, MemoryReport


_WIDTH, _HEIGHT = 1000, 260  # of the picture, in its own units
_COLUMNS = 700  # that the picture has at most
_NAMED, _BARS = 8, 40  # operators with a colour of their own, and buffers with a bar
_COLORS = {INPUTS[0]: "var(--args)", INPUTS[1]: "var(--args)", OTHERS: "var(--rest)"}


def write_page(
    report: MemoryReport,
    groups: Sequence[AlikeBuffers],
    rows: Sequence[AlikeBuffers],
    path: Path,
) -> Path:
    """Writes the page.

    - `groups`: all buffers, alike ones together; `rows`: those at the peak.
    """
    jinja2 = required("MemoryReport.save_html", "jinja2")
    environment = jinja2.Environment(loader=jinja2.PackageLoader("functx._memory"), autoescape=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    environment.filters |= {"sized": sized, "place": place, "short": short}
    found = series_of(report.buffers, report.at_peak, len(report.steps) - 1, _NAMED)
    colors = _colors(found)
    text = environment.get_template("memory.html").render(
        report=report,
        version=jax.__version__,
        rows=rows[:_BARS],
        areas=_areas(found, report, colors),
        bars=_bars(report, colors),
        data=_data(report, groups),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
    return path


def _colors(found: Sequence[BytesByStep]) -> dict[str, str]:
    made = [series.label for series in found if series.label not in _COLORS]
    return _COLORS | {label: f"var(--s{i % _NAMED})" for i, label in enumerate(made)}


class _Area(NamedTuple):
    label: str
    color: str
    path: str


def _areas(
    found: Sequence[BytesByStep], report: MemoryReport, colors: dict[str, str]
) -> list[_Area]:
    """One area above the other. Where steps are many, each column shows the one that needs most."""
    count = len(report.steps)
    columns = min(count, _COLUMNS)
    shown = [
        max(range(count * i // columns, count * (i + 1) // columns), key=_bytes_of(report))
        for i in range(columns)
    ]
    below, areas = [0] * columns, list[_Area]()
    top = max(report.peak_bytes, 1)
    for series in found:
        above = [a + series.bytes[step] for a, step in zip(below, shown, strict=True)]
        upper = [_point(i + side, y, columns, top) for i, y in enumerate(above) for side in (0, 1)]
        lower = [_point(i + side, y, columns, top) for i, y in enumerate(below) for side in (0, 1)]
        path = "M" + "L".join([*upper, *reversed(lower)]) + "Z"
        areas.append(_Area(series.label, colors[series.label], path))
        below = above
    return areas


def _bytes_of(report: MemoryReport) -> Any:
    return lambda step: report.steps[step].bytes


def _point(column: int, size: int, columns: int, top: int) -> str:
    return f"{_WIDTH * column / columns:.1f} {_HEIGHT * (1 - size / top):.1f}"


class _Bar(NamedTuple):
    title: str
    left: float
    width: float
    color: str


def _bars(report: MemoryReport, colors: dict[str, str]) -> list[_Bar]:
    """From when to when the largest buffers are alive."""
    largest = sorted(report.buffers, key=lambda x: -x.bytes)[:_BARS]
    scale = 100 / len(report.steps)
    return [
        _Bar(
            f"{sized(x.bytes)} {short(x.operator) or x.kind} {x.phase} {place(x.line)}".rstrip(),
            round(x.first * scale, 3),
            round((x.last - x.first + 1) * scale, 3),
            colors.get(label_of_series(x), colors[OTHERS]),
        )
        for x in sorted(largest, key=lambda x: (x.first, x.last))
        if x.bytes
    ]


def _data(report: MemoryReport, groups: Sequence[AlikeBuffers]) -> dict[str, Any]:
    """What the page's program reads; each text is there once."""
    words: dict[str, int] = {}
    steps = [[words.setdefault(str(x), len(words)), x.bytes] for x in report.steps]
    kinds = [
        [some.buffers[0].type, short(some.name), some.where, place(some.line)] for some in groups
    ]
    buffers = [
        [x.first, x.last, x.bytes, i]
        for i, some in enumerate(groups)
        for x in some.buffers
        if x.bytes
    ]
    return {
        "steps": steps,
        "words": list(words),
        "kinds": kinds,
        "buffers": buffers,
        "peak": report.peak_step,
    }
