"""The parts of the tour in order, with progress, a table and a folder of pictures.

`functx tour` runs this, and so does `python examples/tour/whole_tour.py [--quick]`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import plots
from curvature import lanczos
from ensemble import ensemble_accuracy, train_ensemble
from functx.cli.console import print_results
from functx.cli.long_runs.workers import run_in_processes
from functx.cli.report import as_data, write_html, write_json
from functx.cli.runner import Plan, Result
from functx.cli.settings import configure
from functx.testing import op_db
from net import accuracy, load
from per_sample import norms_by_class, train_privately
from saliency import saliency
from training import train


CHECKED_FAMILY = "functx._ops.pointwise.exponential"
CHECKED = ("reference", "jit", "vmap", "grad", "vmap_vjp")


@dataclasses.dataclass
class Parts:
    """What the tour found, part by part, and how long each part took."""

    rows: list[tuple[str, str, float]] = dataclasses.field(default_factory=list)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[list[str]]:
        """Times a part; what it appends is what it found."""
        began, found = time.perf_counter(), []
        yield found
        self.rows.append((name, ", ".join(found), time.perf_counter() - began))

    def table(self) -> Table:
        """The summary."""
        table = Table(title="The tour", title_justify="left", box=None, pad_edge=False)
        table.add_column("part", style="bold", no_wrap=True)
        table.add_column("found")
        table.add_column("seconds", justify="right")
        for name, found, seconds in self.rows:
            table.add_row(name, found, f"{seconds:.1f}")
        table.add_row("", "", f"[bold]{sum(row[2] for row in self.rows):.1f}[/]")
        return table


def run_tour(out: Path, console: Console, *, seed: int = 0, quick: bool = False) -> int:
    """Runs the tour into the folder `out`; 0, or 1 if a check failed."""
    out.mkdir(parents=True, exist_ok=True)
    parts = Parts()
    with Progress(console=console, transient=True) as bar:
        _on_digits(out, parts, bar, seed, quick)
        with parts.part("checks") as found:
            plan, results, seconds = _check_family(bar, quick)
            data = as_data(plan, results, planned=len(results), seconds=seconds)
            write_html(out / "checks.html", data)
            write_json(out / "checks.json", data)
            failing = sum(result.failing for result in results)
            found.append(f"{len(results) - failing} of {len(results)} cells pass")
    print_results(console, results)
    console.print()
    console.print(parts.table(), highlight=False)
    console.print(
        f"\nPictures and the report of the checks are in {out}/", highlight=False, soft_wrap=True
    )
    return int(failing > 0)


def _on_digits(out: Path, parts: Parts, bar: Progress, seed: int, quick: bool) -> None:
    train_set, test_set = load(seed)
    if quick:
        train_set = train_set.first(512)
    track = bar.track
    with parts.part("training") as found:
        params, history = train(
            train_set, test_set, epochs=2 if quick else 12, seed=seed, track=track
        )
        plots.training_curve(history).savefig(out / "training.png")
        found.append(f"test accuracy {history['accuracy'][-1]:.1%}")
    with parts.part("per-sample gradients") as found:
        by_class = norms_by_class(params, train_set)
        plots.gradient_norms(by_class).savefig(out / "gradient_norms.png")
        medians = [np.median(lengths) for lengths in by_class]
        found.append(f"digit {int(np.argmax(medians))} pulls most (median {max(medians):.2g})")
    with parts.part("private epoch") as found:
        private = train_privately(train_set, seed=seed, track=track)
        reached = float(accuracy(private, test_set.images, test_set.labels))
        found.append(f"test accuracy {reached:.1%} after one epoch, clip 1, noise 0.5")
    with parts.part("ensemble") as found:
        members = train_ensemble(
            train_set,
            members=3 if quick else 10,
            epochs=1 if quick else 5,
            seed=seed,
            track=track,
        )
        each, together = ensemble_accuracy(members, test_set.images, test_set.labels)
        each = np.asarray(each)
        plots.ensemble_accuracies(each, float(together)).savefig(out / "ensemble.png")
        found.append(f"{len(each)} nets {each.min():.1%} to {each.max():.1%}")
        found.append(f"together {float(together):.1%}")
    with parts.part("saliency") as found:
        seen = saliency(params, test_set)
        plots.saliency_pictures(seen).savefig(out / "saliency.png")
        found.append(f"{seen.jacobians.shape[0]} Jacobians [10, 8, 8]")
    with parts.part("curvature") as found:
        steps = 8 if quick else 30
        ritz = lanczos(params, train_set.first(512), steps=steps, seed=seed, track=track)
        plots.spectrum(ritz).savefig(out / "spectrum.png")
        top = ", ".join(f"{value:.3g}" for value in ritz[-1, :3])
        found.append(f"largest eigenvalues {top}")


def _check_family(bar: Progress, quick: bool) -> tuple[Plan, list[Result], float]:
    """The checks have settings of their own, and so a process of their own."""
    infos = [i for i in op_db if i.spec is not None and i.spec.rule.__module__ == CHECKED_FAMILY]
    checks = CHECKED[:2] if quick else CHECKED
    plan = Plan(tuple(infos[:2] if quick else infos), ("float32",), checks)
    cells = plan.cells()
    began = time.perf_counter()
    running = run_in_processes(plan, cells, 1 if quick else 2)
    results = list(bar.track(running, total=len(cells), description="checks"))
    return plan, results, time.perf_counter() - began


if __name__ == "__main__":
    configure(x64=False, strict=False)
    sys.exit(run_tour(Path("functx-tour"), Console(), quick="--quick" in sys.argv))
