"""Pictures of a profile: a flame graph as an HTML page, bars by matplotlib."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, Literal, TYPE_CHECKING

from functx._core import fail

from .attribution import KernelShare, place_of
from .origins import PHASES
from .readings import TraceReading
from .tables import ProfileTable, shown_seconds


if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["Kind", "draw_bars", "write_flame_graph"]

Kind = Literal["operator", "line"]
_COLOURS = {"forward": "#4c78a8", "backward": "#e4893c", "tangent": "#59a14f", "": "#9a9a9a"}
_WHO = "profiler.profile"
_THINNEST = 2e-4  # of the width: what is thinner is not drawn


class _Flame:
    """A bar of the graph, and those below that are its parts."""

    def __init__(self, name: str, phase: str) -> None:
        self.name, self.phase, self.seconds = name, phase, 0.0
        self.parts: dict[tuple[str, str], _Flame] = {}

    def add(self, path: list[str], phase: str, seconds: float) -> None:
        """Counts seconds for this bar and for those of the path below it."""
        self.seconds += seconds
        if path:
            key = (path[0], phase)
            self.parts.setdefault(key, _Flame(*key)).add(path[1:], phase, seconds)

    def bars(self, whole: float, depth: int = 0, left: float = 0.0) -> Iterator[list[object]]:
        """Each bar: depth, left edge and width from 0 to 1, name, phase and time."""
        yield [
            depth,
            round(left, 6),
            round(self.seconds / whole, 6),
            self.name,
            self.phase,
            shown_seconds(self.seconds),
        ]
        for flame in sorted(self.parts.values(), key=lambda flame: -flame.seconds):
            if flame.seconds >= _THINNEST * whole:
                yield from flame.bars(whole, depth + 1, left)
            left += flame.seconds / whole


def _by_operator(share: KernelShare) -> list[str]:
    origin = share.origin
    return [share.transform, *origin.functions, *origin.scopes, origin.name, share.kernel]


def _by_line(share: KernelShare) -> list[str]:
    return [*(place_of(frame) for frame in reversed(share.frames)), share.origin.name]


def write_flame_graph(reading: TraceReading, path: Path, by: str) -> None:
    """Writes the page."""
    if by not in get_args(Kind):
        fail(
            f"{_WHO}.flame_graph",
            f"`by` must be one of {', '.join(get_args(Kind))}, got {by!r}",
            error=ValueError,
        )
    root = _Flame("all kernels", "")
    for share in reading.shares:
        stack = _by_operator(share) if by == "operator" else _by_line(share)
        root.add(stack, share.phase, share.seconds)
    bars = list(root.bars(root.seconds or 1.0))
    # No text of the data may end the script.
    data = json.dumps(bars).replace("<", "\\u003c")
    title = html.escape(f"Time on {', '.join(reading.devices)}, by {by}")
    page = _PAGE.replace("TITLE", title).replace("COLOURS", json.dumps(_COLOURS))
    path.write_text(page.replace("BARS", data), encoding="utf-8")


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>TITLE</title><style>
body { font: 14px system-ui, sans-serif; margin: 1rem; color: #222; background: #fff }
#graph { position: relative; overflow: hidden }
#graph button { position: absolute; height: 22px; border: 0; border-radius: 2px; padding: 0 4px;
  font: 12px system-ui, sans-serif; color: #fff; text-align: left; white-space: nowrap;
  overflow: hidden; cursor: pointer; outline-offset: -2px }
i { display: inline-block; width: 12px; height: 12px; margin: 0 4px 0 12px; vertical-align: -1px }
</style></head><body>
<h1 style="font-size: 18px">TITLE</h1>
<p>Wide is long. Each bar is a part of the one above it; a click fills the page with a bar, on the
topmost it shows all again. <span id="legend"></span></p>
<p id="told">&nbsp;</p>
<div id="graph"></div>
<script>
const bars = BARS, colours = COLOURS;
const graph = document.getElementById("graph"), told = document.getElementById("told");
for (const [phase, colour] of Object.entries(colours)) {
  if (!bars.some(bar => bar[4] === phase && phase)) continue;
  const box = document.createElement("i");
  box.style.background = colour;
  document.getElementById("legend").append(box, phase);
}
graph.style.height = 24 * (1 + Math.max(...bars.map(bar => bar[0]))) + "px";
function draw(on) {
  graph.replaceChildren();
  for (const bar of bars) {
    const [depth, left, width, name, phase, time] = bar;
    const a = Math.max(left, on[1]), b = Math.min(left + width, on[1] + on[2]);
    if (b - a <= 1e-9) continue;
    const box = document.createElement("button");
    box.style.left = 100 * (a - on[1]) / on[2] + "%";
    box.style.width = `calc(${100 * (b - a) / on[2]}% - 1px)`;
    box.style.top = 24 * depth + "px";
    box.style.background = colours[phase];
    box.textContent = name;
    box.title = `${name}: ${time}, ${(100 * width).toFixed(1)} %`;
    box.onmouseenter = box.onfocus = () => { told.textContent = box.title; };
    box.onclick = () => draw(bar);
    graph.append(box);
  }
}
draw(bars[0]);
</script></body></html>
"""


def draw_bars(table: ProfileTable, limit: int, axes: Axes | None) -> Axes:
    """Bars of the operators that take most, the longest on top, a colour for each phase."""
    if limit < 1:
        fail(f"{_WHO}.plot", f"`limit` must be at least 1, got {limit}", error=ValueError)
    if axes is None:
        try:
            import matplotlib.pyplot as plt  # noqa: PLC0415  only who draws needs it
        except ImportError as error:
            raise ImportError(
                f"{_WHO}.plot: matplotlib is not installed\n  hint: pip install matplotlib"
            ) from error
        _, axes = plt.subplots(figsize=(8, 1 + 0.3 * limit), layout="constrained")
    seconds: dict[str, dict[str, float]] = {}
    for row in table:
        seconds.setdefault(row.name, {})[row.phase] = 1e3 * row.self_seconds
    longest = sorted(seconds, key=lambda name: -sum(seconds[name].values()))[:limit]
    left = [0.0] * len(longest)
    for phase in (*PHASES, ""):
        widths = [seconds[name].get(phase, 0.0) for name in longest]
        if any(widths):
            label = phase or "(no program)"
            axes.barh(longest, widths, left=left, color=_COLOURS[phase], label=label)
            left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("milliseconds")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return axes
