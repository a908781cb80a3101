"""The pictures of the tour. Each function returns a figure; nothing is shown or saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from saliency import Saliency


BLUE, ORANGE, GRAY = "#3455c4", "#e07b39", "#8b919c"


def _figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), layout="constrained", dpi=130)
    return figure, figure.subplots(rows, columns)


def _plain(axes: Any, title: str, x: str, y: str) -> None:
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)
    axes.set_axisbelow(True)


def training_curve(history: dict[str, list[float]]) -> Figure:
    """The loss of each step and the accuracy after each epoch."""
    figure, (left, right) = _figure(8.5, 3.3, 1, 2)
    losses = np.asarray(history["loss"])
    left.plot(losses, color=BLUE, alpha=0.25, linewidth=1)
    width = max(1, len(losses) // 25)
    smooth = np.convolve(losses, np.ones(width) / width, "valid")
    left.plot(np.arange(len(smooth)) + width / 2, smooth, color=BLUE, linewidth=2)
    left.set_yscale("log")
    _plain(left, "Training loss", "step", "cross entropy")
    epochs = np.arange(1, len(history["accuracy"]) + 1)
    right.plot(epochs, 100 * np.asarray(history["accuracy"]), "o-", color=ORANGE, markersize=4)
    _plain(right, "Test accuracy", "epoch", "%")
    return figure


def gradient_norms(by_class: Sequence[np.ndarray]) -> Figure:
    """How long the samples' gradients are, digit by digit."""
    figure, axes = _figure(8.5, 3.6)
    rng = np.random.default_rng(0)
    for digit, lengths in enumerate(by_class):
        x = digit + rng.uniform(-0.28, 0.28, len(lengths))
        axes.scatter(x, lengths, s=7, color=BLUE, alpha=0.3, linewidths=0)
        axes.hlines(np.median(lengths), digit - 0.36, digit + 0.36, color=ORANGE, linewidth=2.5)
    axes.set_yscale("log")
    axes.set_xticks(range(10))
    _plain(axes, "Per-sample gradient norms (orange: median)", "digit", "norm")
    return figure


def saliency_pictures(found: Saliency) -> Figure:
    """Each digit above the pixels that raise (red) or lower (blue) its own score."""
    figure, axes = _figure(10, 2.5, 2, 10)
    for digit in range(10):
        own = found.jacobians[digit, digit]
        most = np.abs(own).max()
        axes[0, digit].imshow(found.images[digit], cmap="gray_r")
        axes[1, digit].imshow(own, cmap="RdBu_r", vmin=-most, vmax=most)
        axes[0, digit].set_title(str(digit), fontsize=10)
    for one in axes.flat:
        one.set_xticks([])
        one.set_yticks([])
        one.spines[:].set_color("#d5d5d5")
    axes[0, 0].set_ylabel("image")
    axes[1, 0].set_ylabel("Jacobian")
    return figure


def spectrum(ritz: np.ndarray, top: int = 5) -> Figure:
    """The largest Ritz values as they converge, and all of them at the end."""
    figure, (left, right) = _figure(8.5, 3.3, 1, 2)
    steps = np.arange(1, len(ritz) + 1)
    for i in range(top):
        left.plot(steps, ritz[:, i], color=BLUE, alpha=1 - 0.16 * i, linewidth=1.8)
    _plain(left, f"{top} largest, as Lanczos converges", "products", "eigenvalue")
    last = ritz[-1]
    colors = [ORANGE if i < top else GRAY for i in range(len(last))]
    right.vlines(np.arange(1, len(last) + 1), 0, last, color=colors, linewidth=2)
    right.scatter(np.arange(1, len(last) + 1), last, color=colors, s=18, zorder=3)
    right.axhline(0, color=GRAY, linewidth=0.8)
    right.set_yscale("symlog", linthresh=0.1)
    right.set_ylim(2 * min(last.min(), -0.05), 2 * last.max())
    _plain(right, "Spectrum seen by Lanczos", "rank", "Ritz value")
    return figure


def ensemble_accuracies(each: np.ndarray, together: float) -> Figure:
    """The members' accuracies and that of the ensemble."""
    figure, axes = _figure(7, 3.3)
    percent = 100 * np.sort(each)
    axes.bar(np.arange(1, len(each) + 1), percent, color=BLUE, alpha=0.75, width=0.7)
    axes.axhline(100 * together, color=ORANGE, linewidth=2.5)
    axes.set_ylim(min(percent.min(), 100 * together) - 2, 100)
    axes.set_xticks(range(1, len(each) + 1))
    title = f"Each net, and all together: {100 * together:.1f} % (orange)"
    _plain(axes, title, "net, by accuracy", "test accuracy, %")
    return figure
