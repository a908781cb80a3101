"""Side-by-side timing, and tables of it."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax


class Table(NamedTuple):
    """A title, a note on what is compared, and cells as text."""

    title: str
    note: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def as_text(self) -> str:
        """For a terminal."""
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        lines = [_aligned(row, widths) for row in (self.header, *self.rows)]
        return "\n".join([self.title, self.note, *lines])

    def as_markdown(self) -> str:
        """For a page of the documentation."""
        rule = ["---", *["--:"] * (len(self.header) - 1)]
        lines = [f"| {' | '.join(row)} |" for row in (self.header, rule, *self.rows)]
        return "\n".join([f"### {self.title}", "", self.note, "", *lines])


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(row, widths, strict=True)
    return first[0].ljust(first[1]) + "".join("  " + cell.rjust(width) for cell, width in rest)


def microseconds(
    calls: Sequence[Callable[[], Any]], seconds: float = 0.5, least: int = 5
) -> list[float]:
    """What one call of each costs, in microseconds: the lower fifth of batches of calls.

    The functions take turns, batch by batch, at least `least` times, so that a busy machine slows
    all alike.
    """
    for call in calls:
        jax.block_until_ready(call())
    size = _batch_size(calls)
    times: list[list[float]] = [[] for _ in calls]
    stop = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < stop or len(times[0]) < least:
        for call, taken in zip(calls, times, strict=True):
            taken.append(_batch(call, size) / size)
    return [1e6 * sorted(taken)[len(taken) // 5] for taken in times]


def _batch_size(calls: Sequence[Callable[[], Any]]) -> int:
    """So many calls that a batch takes some 2 ms, and the clock and the wait do not matter."""
    slowest = max(_batch(call, 3) / 3 for call in calls)
    return max(3, min(500, int(2e-3 / slowest)))


def _batch(call: Callable[[], Any], size: int) -> float:
    start = time.perf_counter()
    for _ in range(size):
        out = call()
    jax.block_until_ready(out)
    return time.perf_counter() - start


def torch_if_there() -> Any:
    """PyTorch on one thread, as its threads wait by spinning; None where it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch  # noqa: TID251  compared with, never used by functx

    torch.set_num_threads(1)
    return torch
